import { settlesWithin, isMissingModuleError } from '@x/core'
import type { ExtensionHost, ExtensionInstance, ServerExtension, ToolView } from '@x/exchange'
import { tasksExtension } from '../schema/task-params.ts'
import type { DetailedTask } from '../schema/task.ts'
import { createTaskContext, type ResolvedTaskOptions, resolveTaskOptions, type TaskOptions } from './options.ts'
import { createTaskAdmin, type TaskAdmin } from './task-admin.ts'
import { toDetailedTask } from './to-detailed-task.ts'
import { createTaskMiddleware } from './task-middleware.ts'
import { createTaskMethods } from './task-requests.ts'
import type { RunOptions, RunOutcome } from './task-runner.ts'
import { Worker } from './worker/worker.ts'

/** What a server has as `server.tasks`, for operators. */
export interface TasksApi extends TaskAdmin {
  /** How many tasks this instance runs. */
  readonly running: number
  /** Any owner's task as its client sees it. Undefined if it does not exist. */
  get(id: string): Promise<DetailedTask | undefined>
  /**
   * For a `runner`: claims one task, runs it until it has ended, waits for its client or is released, and resolves
   * after the write that ended the claim. Rejects if the store is unreachable, or with `signal.reason` if the signal
   * had aborted before; the runner must then call again.
   */
  run(id: string, options?: RunOptions): Promise<RunOutcome>
}

/**
 * Runs calls of a tool as tasks, if the tool declares `task` (seps/2663-tasks-extension). A handler's journal is stored
 * step by step, and any instance with the same engine can continue the task.
 *
 * The first request, or the first `ready()` of the server, opens the engine and starts the worker. HTTP hosts call
 * `ready()` for `/readyz`. If an instance gets no requests and only runs tasks of other instances, call
 * `await server.ready()` yourself. Closing the server releases its tasks for other instances, and closes the engine,
 * even one that you gave as `store`.
 *
 * A task fails if its journal, its open requests or its result have more than 4,000,000 bytes of JSON. Throws
 * `RangeError` for an invalid value, and `TypeError` for an unknown option.
 *
 * @example
 * const server = createServer({ ...definition, extensions: [tasks({ store: 'pglite:./.mcp-tasks' })] })
 */
export function tasks(options: TaskOptions = {}): ServerExtension<'tasks', TasksApi> {
  const checkedOptions = resolveTaskOptions(options)
  return {
    extends: 'server',
    name: 'tasks',
    identifier: tasksExtension,
    capabilities: options.persistentWorkflow === true ? { persistentWorkflow: {} } : {},
    start: (host) => startTaskServer(checkedOptions, host),
  }
}

function startTaskServer(options: ResolvedTaskOptions, host: ExtensionHost): ExtensionInstance<TasksApi> {
  const context = createTaskContext(options, host)
  const { settings, taskChanges, dispatch } = context
  const { engine } = settings
  const worker = new Worker(context)
  let isDriverMissing = false
  let isClosed = false
  return {
    api: {
      ...createTaskAdmin(engine, { onChange: (id) => taskChanges.notifyChange(id), onReady: dispatch }),
      get running() {
        return worker.runningCount
      },
      get: async (id) => {
        const row = await engine.inspect(id)
        return row && toDetailedTask(row, settings)
      },
      run: (id, options) => worker.run(id, options),
    },
    methods: createTaskMethods(context),
    middleware: createTaskMiddleware(worker, context, () => isClosed),
    ...(options.isStoreOmitted && host.state !== undefined && { localOnly: localOnlyMessage }),
    get required() {
      return isDriverMissing || runsOnlyTasks(host.tools())
    },
    ready: async () => {
      worker.start()
      try {
        await engine.ping()
        context.writeHealth.check()
      } catch (error) {
        // An unreachable store may return. A missing package does not.
        isDriverMissing = isMissingModuleError(error)
        throw error
      }
      return true
    },
    drain: () => worker.drain(),
    close: async ({ graceMs }) => {
      await worker.close(graceMs)
      isClosed = true
      await settlesWithin(engine.close(), engineCloseMs, settings.clock)
    },
  }
}

function runsOnlyTasks(tools: readonly ToolView[]): boolean {
  return tools.length > 0 && tools.every(({ definition }) => 'task' in definition && definition.task === 'required')
}

const localOnlyMessage =
  'tasks() keeps tasks in the memory of this process, though `state` has keys for several instances: give it `store`, or `store: "memory:"` for a single instance'

const engineCloseMs = 1000
