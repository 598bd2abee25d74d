import { backgroundKey, type BackgroundRunner, type Middleware, withContext } from '@x/exchange'
import { errorCodes, McpError } from '@x/schema'
import { createBackgroundRunner } from './create-task.ts'
import { listenToTasks } from './listen-tasks.ts'
import type { TaskContext } from './options.ts'
import type { Worker } from './worker/worker.ts'

const closedMessage =
  'The server was closed here, and runs no more tasks: the call has not begun, and another attempt fails too'

/**
 * Of a closed server. A call that may become a task runs as an ordinary one, and one that must become a task has not
 * begun: no worker would ever run its task.
 */
const closedRunner: BackgroundRunner = {
  accepted: false,
  begin: async () => {
    throw new McpError(errorCodes.internal, closedMessage, { data: { begun: false, permanent: true } })
  },
}

/** Starts the worker, lets calls of tools become tasks, and streams changes of tasks. */
export function createTaskMiddleware(worker: Worker, context: TaskContext, isClosed: () => boolean): Middleware {
  return (next) => (request, call) => {
    worker.start()
    const { method } = request
    // No other request may be answered with a task (seps/2663-tasks-extension, supported methods).
    if (method === 'tools/call') {
      const runner = isClosed() ? closedRunner : createBackgroundRunner(request, call, context)
      return next(request, withContext(call, backgroundKey, runner))
    }
    return method === 'subscriptions/listen' ? listenToTasks(request, call, { ...context, next }) : next(request, call)
  }
}
