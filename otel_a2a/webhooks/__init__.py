# SPDX-License-Identifier: Apache-2.0
"""Push notifications that an application receives: seen by a middleware, or told with ``observe_webhook``.

    app = A2AWebhookMiddleware(app, paths="/a2a/webhook")        around any ASGI application
    app = A2AWebhookWSGIMiddleware(app, paths="/a2a/webhook")    around any WSGI application

A delivery is believed where its token (header ``X-A2A-Notification-Token``) is the one that this process registered for
the task, or where the application vouches for the sender (``verified``). Only then does it move what is known of the
task, as an answer would. Nothing is ever raised, in mode ``raise`` neither: what was delivered has already happened.

The middlewares only look. What the server and the application say to each other passes at once and as it is; the body
is read along as far as the application reads it, and looked at when it is whole. So an application that turns a
delivery away unread has not been told of anything. Where nothing is instrumented, a request costs a look at one
variable.
"""

from otel_a2a.webhooks.asgi import A2AWebhookMiddleware
from otel_a2a.webhooks.observe import observe_webhook
from otel_a2a.webhooks.wsgi import A2AWebhookWSGIMiddleware

__all__ = ["A2AWebhookMiddleware", "A2AWebhookWSGIMiddleware", "observe_webhook"]
