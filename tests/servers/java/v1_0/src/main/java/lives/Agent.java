// SPDX-License-Identifier: Apache-2.0
package lives;

import io.a2a.server.AgentCardValidator;
import io.a2a.server.PublicAgentCard;
import io.a2a.spec.AgentCapabilities;
import io.a2a.spec.AgentCard;
import io.a2a.spec.AgentInterface;
import io.a2a.spec.AgentSkill;
import io.quarkus.runtime.Quarkus;
import io.quarkus.runtime.QuarkusApplication;
import io.quarkus.runtime.annotations.QuarkusMain;
import jakarta.enterprise.inject.Produces;
import jakarta.inject.Singleton;
import java.util.List;
import org.eclipse.microprofile.config.ConfigProvider;

/**
 * A well-behaved agent on the SDK for Java, which speaks A2A 1.0 over JSON-RPC and HTTP+JSON by the SDK's handlers. It
 * serves on a free loopback port, and prints its base URL when it is up.
 */
@QuarkusMain
@Singleton
public class Agent implements QuarkusApplication {
    @Override
    public int run(String... args) {
        // It would look for the SDK's reference servers.
        System.setProperty(AgentCardValidator.SKIP_PROPERTY, "true");
        System.out.println(base());
        Quarkus.waitForExit();
        return 0;
    }

    @Produces
    @PublicAgentCard
    AgentCard card() {
        return AgentCard.builder()
                .name("Lives")
                .description("lives as told")
                .version("1.0.0")
                .supportedInterfaces(List.of(
                        new AgentInterface("JSONRPC", base() + "/rpc"),
                        new AgentInterface("HTTP+JSON", base() + "/rest")))
                .capabilities(AgentCapabilities.builder().streaming(true).build())
                .defaultInputModes(List.of("text/plain"))
                .defaultOutputModes(List.of("text/plain"))
                .skills(List.of(AgentSkill.builder()
                        .id("live")
                        .name("Live")
                        .description("lives")
                        .tags(List.of("t"))
                        .build()))
                .build();
    }

    /** Where this program serves: Quarkus sets the port that it got. */
    private static String base() {
        return "http://127.0.0.1:" + ConfigProvider.getConfig().getValue("quarkus.http.port", String.class);
    }
}
