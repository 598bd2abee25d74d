import { backgroundKey, type Middleware, withContext } from '@x/exchange'
import { createBackgroundRunner } from './create-task.ts'
import { listenToTasks } from './listen-tasks.ts'
import type { TaskContext } from './options.ts'
import type { Worker } from './worker/worker.ts'

/** Starts the worker, lets calls of tools become tasks, and streams changes of tasks. */
export function createTaskMiddleware(worker: Worker, context: TaskContext): Middleware {
  return (next) => (request, call) => {
    worker.start()
    const { method } = request
    // No other request may be answered with a task (seps/2663-tasks-extension, supported methods).
    if (method === 'tools/call')
      return next(request, withContext(call, backgroundKey, createBackgroundRunner(request, call, context)))
    return method === 'subscriptions/listen' ? listenToTasks(request, call, { ...context, next }) : next(request, call)
  }
}
