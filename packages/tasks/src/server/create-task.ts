import { encodeHex, isLimitError, isMissingModuleError, LimitError, settlesWithin, sha256Hex } from '@x/core'
import { type BackgroundRunner, type Call, type CallContext, callerKeyOf, limitErrorToMcp } from '@x/exchange'
import { errorCodes, isJsonObject, type JsonObject, McpError, requestMetaOf, type RpcRequest } from '@x/schema'
import { recordedPartsKey } from '@x/exchange/internal'
import type { NewTask, TaskRow } from '../engines/engine.ts'
import { createPayload, losesCallerState, toRunnableCall, type TaskCallRecord, taskOwnerKeyOf } from './task-payload.ts'
import { digestTaskId } from './task-digest.ts'
import { declaresTasks, requireTasks } from './require-tasks.ts'
import { legacyMembersOf, toTask } from './to-detailed-task.ts'
import { maxLifetimeMs, type TaskContext } from './options.ts'
import { hasTool } from './worker/missing-capability.ts'
import { checkJournalSize } from './worker/size-limits.ts'

/** Gives a request the `BackgroundRunner` that creates its task, if the handler wants to run in the background. */
export function createBackgroundRunner(request: RpcRequest, call: Call, context: TaskContext): BackgroundRunner {
  const { settings } = context
  // The server has already checked the params that the getter reads.
  return {
    get accepted() {
      return isTaskRequested(request, settings)
    },
    begin: (journal, callId, callContext) =>
      createTaskForCall({ request, call, journal, callId, extensionRecords: extensionRecordsIn(callContext) }, context),
  }
}

function extensionRecordsIn(context: CallContext | undefined): TaskCallRecord['extensionRecords'] {
  const partRecorders = Object.entries(context?.get(recordedPartsKey) ?? {})
  return Object.fromEntries(partRecorders.map(([name, record]) => [name, record()]))
}

/** By declaring the extension, or by `task` in the persistent workflow (SEP-2322). */
function isTaskRequested({ params }: RpcRequest, { persistentWorkflow }: TaskContext['settings']): boolean {
  return declaresTasks(requestMetaOf(params)) || (persistentWorkflow && isJsonObject(params?.['task']))
}

/**
 * In the persistent workflow a client may ask for a lifetime, which is at most `ttlMs` and is fixed. Otherwise it is
 * `ttlMs`, and starts again with each change of status.
 */
function lifetimeOf(
  { params }: RpcRequest,
  { persistentWorkflow, ttlMs }: TaskContext['settings'],
): Pick<NewTask, 'lifetimeMs' | 'hasFixedLifetime'> {
  const taskParams = persistentWorkflow ? params?.['task'] : undefined
  const requestedMs = isJsonObject(taskParams) ? taskParams['ttl'] : undefined
  if (typeof requestedMs !== 'number' || !Number.isSafeInteger(requestedMs) || requestedMs <= 0)
    return { lifetimeMs: ttlMs }
  return { lifetimeMs: Math.min(requestedMs, ttlMs ?? maxLifetimeMs), hasFixedLifetime: true }
}

/**
 * Creates the task of a call, and returns the result that names it. Resolves once every instance can read the task
 * (seps/2663-tasks-extension, task creation). `callId` is derived from the call's idempotency key, its caller and its
 * answers, and is undefined without an idempotency key.
 */
async function createTaskForCall(
  {
    request,
    call,
    journal,
    callId,
    extensionRecords,
  }: Pick<TaskCallRecord, 'request' | 'journal' | 'extensionRecords'> & {
    readonly call: Call
    readonly callId: string | undefined
  },
  context: TaskContext,
): Promise<JsonObject> {
  const { settings } = context
  if (!isTaskRequested(request, settings)) requireTasks(requestMetaOf(request.params))
  const sizeError = checkJournalSize(journal)
  if (sizeError !== undefined) {
    settings.onError(new Error(sizeError.message))
    throw new McpError(sizeError.code, sizeError.message)
  }
  const id = callId === undefined ? randomTaskId() : await taskIdOf(callId)
  const { principal } = call
  const callRecord = { id, request, principal, journal, extensionRecords }
  await checkToolVisible(callRecord, call.signal, context)
  const owner = taskOwnerKeyOf(principal)
  const tool = toolOf(request)
  const { callerLimit, engine } = settings
  const create = async (): Promise<TaskRow | 'full'> => {
    const payload = await createPayload(callRecord, settings.state, settings.ttlMs ?? undefined)
    const newTask = {
      id,
      owner,
      caller: callerKeyOf(call),
      tool,
      payload,
      callerLimit,
      ...lifetimeOf(request, settings),
    }
    return context.writeHealth.watch(engine.create(newTask), (row) => row !== 'full')
  }
  const creation = callId === undefined ? create() : createTaskOnce(create, () => engine.get(id, owner), settings)
  const row = await creation.catch((error: unknown) => {
    if (isMissingModuleError(error)) {
      settings.onError(error)
      throw new McpError(errorCodes.internal, 'This server cannot run tasks: it lacks a package, which its log names')
    }
    throw isLimitError(error) ? limitErrorToMcp(error) : error
  })
  if (row === 'full') {
    const advice = 'cancel a task, or wait until one has ended'
    throw limitErrorToMcp(new LimitError('tasks', { scope: 'caller', max: callerLimit, advice }))
  }
  if (row.status === 'working') await context.dispatch(id)
  context.emit({ type: 'task_created', call, taskDigest: digestTaskId(row.id), tool })
  const task = toTask(row, settings)
  const isWorkflow = settings.persistentWorkflow && isJsonObject(request.params?.['task'])
  // SEP-2322 expects the task in the member `task`, with the member names of an earlier draft.
  return { resultType: 'task', ...task, ...(isWorkflow && { task: { ...task, ...legacyMembersOf(task) } }) }
}

function toolOf({ params }: RpcRequest): string {
  return String(params?.['name'])
}

/** No worker could run such a task: its tool is hidden from callers without claims, and the claims are not stored. */
async function checkToolVisible(
  callRecord: TaskCallRecord,
  signal: AbortSignal,
  { innerExchange, settings }: TaskContext,
): Promise<void> {
  if (!losesCallerState(callRecord, settings.state)) return
  if (await hasTool(toRunnableCall(callRecord, settings.state), signal, innerExchange)) return
  const name = JSON.stringify(callRecord.request.params?.['name'])
  const message = `The tool ${name} cannot run as a task: without a \`state\` of the server (or of tasks(), if tasks live longer than its tokens) a task keeps no claims of its caller, and the tool is hidden from callers without them`
  settings.onError(new Error(message))
  throw new McpError(errorCodes.internal, message)
}

/** Milliseconds after which a client should repeat a call whose task could not be stored. */
const retryAfterMs = 1000

const findTimeoutMs = 1000

/**
 * For a call with an idempotency key. Resolves with the existing task if the same creation ran before, or runs at the
 * same time. A failed creation can be repeated, so the error asks the client for the same call again.
 */
async function createTaskOnce(
  create: () => Promise<TaskRow | 'full'>,
  find: () => Promise<TaskRow | undefined>,
  { onError, clock }: TaskContext['settings'],
): Promise<TaskRow | 'full'> {
  try {
    const row = await create().catch(async (error: unknown) => {
      if (isMissingModuleError(error)) throw error
      const found = find()
      // A store that is down would take as long again, and the client sends the call again.
      if (!(await settlesWithin(found, findTimeoutMs, clock))) throw error
      const existingRow = await found
      if (existingRow === undefined) throw error
      return existingRow
    })
    return row === 'full' ? ((await find()) ?? 'full') : row
  } catch (error) {
    if (isLimitError(error) || isMissingModuleError(error)) throw error
    onError(error)
    const message =
      'The store of tasks failed, so the task may not have been stored: send the call again, with its idempotency key'
    throw new McpError(errorCodes.internal, message, { data: { reason: 'unavailable', retryAfterMs } })
  }
}

/** As long as a random id, and not to be guessed without the idempotency key. */
async function taskIdOf(callId: string): Promise<string> {
  const digest = await sha256Hex(`task ${callId}`)
  return digest.slice(0, 40)
}

/**
 * 160 random bits: where callers have no principals, the id is all that a caller needs to read the task
 * (seps/2663-tasks-extension, task id unguessability).
 */
function randomTaskId(): string {
  return encodeHex(crypto.getRandomValues(new Uint8Array(20)))
}
