// SPDX-License-Identifier: Apache-2.0
package lives;

import static io.quarkus.vertx.web.Route.HandlerType.BLOCKING;
import static io.quarkus.vertx.web.Route.HttpMethod.GET;
import static io.quarkus.vertx.web.Route.HttpMethod.POST;

import com.google.protobuf.MessageOrBuilder;
import io.a2a.common.A2AHeaders;
import io.a2a.grpc.utils.JSONRPCUtils;
import io.a2a.grpc.utils.ProtoUtils.ToProto;
import io.a2a.jsonrpc.common.wrappers.A2ARequest;
import io.a2a.jsonrpc.common.wrappers.A2AResponse;
import io.a2a.jsonrpc.common.wrappers.CancelTaskRequest;
import io.a2a.jsonrpc.common.wrappers.GetTaskRequest;
import io.a2a.jsonrpc.common.wrappers.SendMessageRequest;
import io.a2a.jsonrpc.common.wrappers.SendStreamingMessageRequest;
import io.a2a.server.ServerCallContext;
import io.a2a.server.auth.UnauthenticatedUser;
import io.a2a.server.util.sse.SseFormatter;
import io.a2a.spec.MethodNotFoundError;
import io.a2a.transport.jsonrpc.handler.JSONRPCHandler;
import io.a2a.transport.rest.handler.RestHandler;
import io.a2a.transport.rest.handler.RestHandler.HTTPRestResponse;
import io.a2a.transport.rest.handler.RestHandler.HTTPRestStreamingResponse;
import io.quarkus.vertx.web.Body;
import io.quarkus.vertx.web.Route;
import io.smallrye.mutiny.Multi;
import io.vertx.ext.web.RoutingContext;
import jakarta.inject.Inject;
import jakarta.inject.Singleton;
import java.util.HashMap;
import java.util.Set;
import java.util.concurrent.Flow.Publisher;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiFunction;

/**
 * Where the SDK's handlers of JSON-RPC and HTTP+JSON are reached. What they are asked and what they answer is read and
 * written by the SDK; here it only goes over HTTP, as in the SDK's reference servers.
 */
@Singleton
public class Routes {
    private static final String JSON = "application/json";

    @Inject
    JSONRPCHandler rpc;

    @Inject
    RestHandler rest;

    @Route(path = "/.well-known/agent-card.json", methods = GET)
    void card(RoutingContext http) {
        answer(http, rest.getAgentCard());
    }

    @Route(path = "/rpc", methods = POST, type = BLOCKING)
    void rpc(@Body String body, RoutingContext http) throws Exception {
        A2ARequest<?> asked = JSONRPCUtils.parseRequestBody(body, "");
        ServerCallContext call = call(http);
        if (asked instanceof SendStreamingMessageRequest send) {
            stream(http, rpc.onMessageSendStream(send, call), SseFormatter::formatResponseAsSSE);
        } else if (asked instanceof SendMessageRequest send) {
            var sent = rpc.onMessageSend(send, call);
            answer(http, sent, sent.getError() == null ? ToProto.taskOrMessage(sent.getResult()) : null);
        } else if (asked instanceof GetTaskRequest get) {
            var got = rpc.onGetTask(get, call);
            answer(http, got, got.getError() == null ? ToProto.task(got.getResult()) : null);
        } else if (asked instanceof CancelTaskRequest cancel) {
            var canceled = rpc.onCancelTask(cancel, call);
            answer(http, canceled, canceled.getError() == null ? ToProto.task(canceled.getResult()) : null);
        } else {
            answer(http, JSONRPCUtils.toJsonRPCErrorResponse(asked.getId(), new MethodNotFoundError()));
        }
    }

    @Route(regex = "/rest/message:send", methods = POST, type = BLOCKING)
    void send(@Body String body, RoutingContext http) {
        answer(http, rest.sendMessage(call(http), "", body));
    }

    @Route(regex = "/rest/message:stream", methods = POST, type = BLOCKING)
    void stream(@Body String body, RoutingContext http) {
        answer(http, rest.sendStreamingMessage(call(http), "", body));
    }

    @Route(regex = "/rest/tasks/(?<id>[^:/]+)", methods = GET, type = BLOCKING)
    void get(RoutingContext http) {
        answer(http, rest.getTask(call(http), "", http.pathParam("id"), null));
    }

    @Route(regex = "/rest/tasks/(?<id>[^:/]+):cancel", methods = POST, type = BLOCKING)
    void cancel(RoutingContext http) {
        answer(http, rest.cancelTask(call(http), "", http.pathParam("id")));
    }

    private static ServerCallContext call(RoutingContext http) {
        String version = http.request().getHeader(A2AHeaders.X_A2A_VERSION);
        return new ServerCallContext(UnauthenticatedUser.INSTANCE, new HashMap<>(), Set.of(), version);
    }

    private static void answer(RoutingContext http, A2AResponse<?> response, MessageOrBuilder result) {
        answer(http, result == null
                ? JSONRPCUtils.toJsonRPCErrorResponse(response.getId(), response.getError())
                : JSONRPCUtils.toJsonRPCResultResponse(response.getId(), result));
    }

    private static void answer(RoutingContext http, String json) {
        answer(http, new HTTPRestResponse(200, JSON, json));
    }

    private static void answer(RoutingContext http, HTTPRestResponse response) {
        if (response instanceof HTTPRestStreamingResponse streaming) {
            stream(http, streaming.getPublisher(), SseFormatter::formatJsonAsSSE);
        } else {
            http.response().setStatusCode(response.getStatusCode()).putHeader("content-type", response.getContentType());
            http.response().end(response.getBody());
        }
    }

    private static <T> void stream(RoutingContext http, Publisher<T> events, BiFunction<T, Long, String> format) {
        AtomicLong number = new AtomicLong();
        http.response().setChunked(true).putHeader("content-type", "text/event-stream");
        Multi.createFrom().publisher(events).subscribe().with(
                event -> http.response().write(format.apply(event, number.getAndIncrement())),
                http::fail,
                () -> http.response().end());
    }
}
