import {
  type Background,
  type Call,
  errorCodes,
  type JsonObject,
  McpError,
  requestMeta,
  type RpcRequest,
} from '@x/schema'
import { ownerOf } from './owner.ts'
import { writePayload } from './payload.ts'
import { declaresTasks, requireTasks } from './require-tasks.ts'
import { plainTask } from './show-task.ts'
import type { TaskContext } from './task-context.ts'
import { refuseJournal } from './worker/size-limits.ts'

/** What takes one request on as a task, if its handler wants that. */
export function backgroundOf(request: RpcRequest, call: Call, { settings }: TaskContext): Background {
  // The server has checked the params before anybody asks.
  return {
    get accepted() {
      return settings.accepts && declaresTasks(requestMeta(request.params))
    },
    begin: (journal) => takeOn({ request, call, journal }, settings),
  }
}

interface Taken {
  readonly request: RpcRequest
  readonly call: Call
  readonly journal: JsonObject
}

/** Makes the task, and answers with it once it is there for every instance (seps/2663-tasks-extension, task creation). */
async function takeOn({ request, call, journal }: Taken, settings: TaskContext['settings']): Promise<JsonObject> {
  requireTasks(requestMeta(request.params))
  if (!settings.accepts) throw new McpError(errorCodes.internal, 'This instance takes no tasks on: ask another one')
  const tooLarge = refuseJournal(journal, settings)
  if (tooLarge !== undefined) {
    settings.onError(new Error(tooLarge.message))
    throw new McpError(tooLarge.code, tooLarge.message)
  }
  const id = randomId()
  const { principal } = call
  const payload = await writePayload({ id, request, principal, journal }, settings.credentials)
  const { ttlMs: lifeMs, maxTasksPerPrincipal: ownerLimit, engine } = settings
  const row = await engine.create({ id, owner: ownerOf(principal), payload, lifeMs, ownerLimit })
  if (row === 'full') {
    const message = `You have ${ownerLimit} tasks that have not ended, which is as many as you may: cancel one, or wait`
    throw new McpError(errorCodes.internal, message)
  }
  return { resultType: 'task', ...plainTask(row, settings) }
}

/** 160 bits of chance: whoever is not told an id does not find it (seps/2663-tasks-extension, task id unguessability). */
function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(20))
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
