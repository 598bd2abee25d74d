import { type Exchange, withCapabilities } from '@x/schema'
import { tasksCapability } from '../schema/extension.ts'
import { joinMembers } from './join-members.ts'
import { listenToTasks } from './listen-tasks.ts'
import { type TaskOptions, taskSettings } from './options.ts'
import { backgroundOf } from './take-on.ts'
import type { TaskContext } from './task-context.ts'
import { serveTask, taskMethods } from './task-requests.ts'
import { createTaskWatch } from './task-watch.ts'
import { startWorker } from './worker/worker.ts'

/** What a server with tasks has besides. */
export interface TaskServer {
  /** How many tasks this instance works on now. */
  readonly runningTasks: number
  /** Tells the server inside that it is about to stop, and gives back the tasks it works on at their next step or checkpoint. */
  drain(): () => void
  /**
   * Stops working on tasks and lets go of the engine: tasks are given back for other instances to go on with at once, those that are
   * in the middle of a step after `graceMs` (5000 when absent). What is asked about tasks after that fails.
   */
  closeTasks(options?: { readonly graceMs?: number | undefined }): Promise<void>
}

/**
 * Takes calls of a server on as tasks, as its tools say with `task`, and works on them: what a handler was answered and has
 * recorded is kept step by step, and any instance with the same engine goes on with it (seps/2663-tasks-extension).
 *
 * Put it straight around the server; what else goes around goes outside. Throws `RangeError` for an option that makes no
 * sense.
 *
 * @example
 * const server = withTasks(createServer(definition), { store: 'pglite:./.mcp-tasks' })
 */
export function withTasks<E extends Exchange>(exchange: E, options: TaskOptions = {}): E & TaskServer {
  const settings = taskSettings(options)
  const watch = createTaskWatch(settings.bus, settings.onError)
  const context: TaskContext = { exchange, settings, watch }
  const methods = taskMethods(settings)
  const declared = withCapabilities(exchange, tasksCapability)
  const worker = startWorker(context)

  const around: Exchange = (request, call) => {
    const serve = methods.get(request.method)
    if (serve !== undefined) return serveTask(serve, { request, call }, context)
    if (request.method === listening) return listenToTasks(request, call, context)
    if (!taskable.has(request.method)) return declared(request, call)
    return exchange(request, { ...call, background: backgroundOf(request, call, context) })
  }
  return joinMembers(exchange, around, {
    get runningTasks() {
      return worker.running
    },
    drain: () => {
      const takeBack = drainInside(exchange)
      const work = worker.drain()
      return () => {
        takeBack()
        work()
      }
    },
    closeTasks: async ({ graceMs = 5000 } = {}) => {
      await worker.close(graceMs)
      await settings.engine.close()
    },
  })
}

const listening = 'subscriptions/listen'

/** The requests that may be answered with a task (seps/2663-tasks-extension, supported methods). */
const taskable = new Set(['tools/call'])

function drainInside(exchange: Exchange): () => void {
  const drain: unknown = 'drain' in exchange ? exchange.drain : undefined
  const takeBack: unknown = typeof drain === 'function' ? drain() : undefined
  return () => {
    if (typeof takeBack === 'function') takeBack()
  }
}
