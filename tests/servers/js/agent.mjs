// SPDX-License-Identifier: Apache-2.0
// A well-behaved agent on the SDK for JavaScript. `node agent.mjs 1.0|0.3` serves on a free loopback port, and prints its
// base URL when it is up. In 0.3 its card, its requests and its answers are those of A2A 0.3, by the SDK's own translation.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import express from 'express';
import { Role, TaskState } from '@a2a-js/sdk';
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from '@a2a-js/sdk/server';
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express';

const version = process.argv[2] ?? '1.0';
const legacyCompat = { enabled: version === '0.3' };

const textPart = (value) => ({ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: 'text/plain' });

// What becomes of a task, by the text of its message: `ask`, a question, and its answer completes it; `slow`, until it is
// canceled; any other, an artifact in two parts.
class Lives {
  working = new Map();

  async execute({ userMessage, taskId, contextId, task }, bus) {
    const text = userMessage.parts[0].content.value;
    const status = (state, message) => ({ state, message, timestamp: new Date().toISOString() });
    const becomes = (state, message) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, message), metadata: undefined }));
    bus.publish(AgentEvent.task({
      id: taskId,
      contextId,
      status: status(task ? TaskState.TASK_STATE_WORKING : TaskState.TASK_STATE_SUBMITTED),
      artifacts: task?.artifacts ?? [],
      history: task?.history ?? [userMessage],
      metadata: undefined,
    }));
    if (!task) becomes(TaskState.TASK_STATE_WORKING);
    if (text === 'ask' && !task) {
      becomes(TaskState.TASK_STATE_INPUT_REQUIRED, {
        messageId: randomUUID(), contextId, taskId, role: Role.ROLE_AGENT, parts: [textPart('which one?')],
        metadata: undefined, extensions: [], referenceTaskIds: [],
      });
    } else if (text === 'slow') {
      await new Promise((canceled) => this.working.set(taskId, canceled));
      becomes(TaskState.TASK_STATE_CANCELED);
    } else {
      for (const number of [0, 1]) {
        bus.publish(AgentEvent.artifactUpdate({
          taskId,
          contextId,
          artifact: {
            artifactId: 'result', name: 'result', description: '', parts: [textPart(`part ${number}`)],
            metadata: undefined, extensions: [],
          },
          append: number > 0,
          lastChunk: number === 1,
          metadata: undefined,
        }));
      }
      becomes(TaskState.TASK_STATE_COMPLETED);
    }
    bus.finished();
  }

  async cancelTask(taskId) {
    this.working.get(taskId)?.();
  }
}

const app = express();
const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
const base = `http://127.0.0.1:${server.address().port}`;
const at = (path, protocolBinding) => ({ url: base + path, protocolBinding, tenant: '', protocolVersion: version });

const card = {
  name: 'Lives',
  description: 'lives as told',
  version: '1.0.0',
  supportedInterfaces: [at('/rpc', 'JSONRPC'), at('/rest', 'HTTP+JSON')],
  provider: undefined,
  capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: false, extensions: [] },
  securitySchemes: {},
  securityRequirements: [],
  defaultInputModes: ['text/plain'],
  defaultOutputModes: ['text/plain'],
  skills: [{
    id: 'live', name: 'Live', description: 'lives', tags: ['t'], examples: [], inputModes: [], outputModes: [],
    securityRequirements: [],
  }],
  signatures: [],
};

const requestHandler = new DefaultRequestHandler(card, new InMemoryTaskStore(), new Lives());
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat };
for (const path of ['agent-card.json', 'agent.json']) {
  app.use(`/.well-known/${path}`, agentCardHandler({ agentCardProvider: requestHandler, legacyCompat }));
}
app.use('/rpc', jsonRpcHandler(options));
app.use('/rest', restHandler(options));
console.log(base);
