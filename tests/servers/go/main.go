// SPDX-License-Identifier: Apache-2.0

// A well-behaved agent on the SDK for Go, which speaks A2A 0.3 over JSON-RPC. It serves on a free loopback port, and prints
// its base URL when it is up.
package main

import (
	"context"
	"fmt"
	"log"
	"net"
	"net/http"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
)

// lives is what becomes of a task, by the text of its message: "ask", a question, and its answer completes it; "slow",
// until it is canceled; any other, an artifact in two parts.
type lives struct{}

func (lives) Execute(ctx context.Context, asked *a2asrv.RequestContext, queue eventqueue.Queue) error {
	text := asked.Message.Parts[0].(a2a.TextPart).Text
	var events []a2a.Event
	if asked.StoredTask == nil {
		events = append(events, a2a.NewSubmittedTask(asked, asked.Message))
	}
	events = append(events, a2a.NewStatusUpdateEvent(asked, a2a.TaskStateWorking, nil))
	switch {
	case text == "ask" && asked.StoredTask == nil:
		question := a2a.NewMessageForTask(a2a.MessageRoleAgent, asked, a2a.TextPart{Text: "which one?"})
		events = append(events, last(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateInputRequired, question)))
	case text == "slow":
	default:
		begun := a2a.NewArtifactEvent(asked, a2a.TextPart{Text: "part 0"})
		ended := a2a.NewArtifactUpdateEvent(asked, begun.Artifact.ID, a2a.TextPart{Text: "part 1"})
		ended.LastChunk = true
		events = append(events, begun, ended, last(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCompleted, nil)))
	}
	for _, event := range events {
		if err := queue.Write(ctx, event); err != nil {
			return err
		}
	}
	if text == "slow" {
		<-ctx.Done()
		return ctx.Err()
	}
	return nil
}

func (lives) Cancel(ctx context.Context, asked *a2asrv.RequestContext, queue eventqueue.Queue) error {
	return queue.Write(ctx, last(a2a.NewStatusUpdateEvent(asked, a2a.TaskStateCanceled, nil)))
}

func last(event *a2a.TaskStatusUpdateEvent) *a2a.TaskStatusUpdateEvent {
	event.Final = true
	return event
}

func main() {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	base := "http://" + listener.Addr().String()
	card := &a2a.AgentCard{
		Name:               "Lives",
		Description:        "lives as told",
		Version:            "1.0.0",
		URL:                base + "/rpc",
		PreferredTransport: a2a.TransportProtocolJSONRPC,
		ProtocolVersion:    "0.3.0",
		Capabilities:       a2a.AgentCapabilities{Streaming: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills:             []a2a.AgentSkill{{ID: "live", Name: "Live", Description: "lives", Tags: []string{"t"}}},
	}
	mux := http.NewServeMux()
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(a2asrv.NewHandler(lives{})))
	for _, path := range []string{a2asrv.WellKnownAgentCardPath, "/.well-known/agent.json"} {
		mux.Handle(path, a2asrv.NewStaticAgentCardHandler(card))
	}
	fmt.Println(base)
	log.Fatal(http.Serve(listener, mux))
}
