import { isJsonObject, type JsonObject } from '@x/schema'
import type { StateStore } from '@x/state-codec'
import type { IdempotencyOptions } from '../shedding/shedding-options.ts'
import { after, type Awaitable } from '../request/awaitable.ts'
import { report } from '../request/report.ts'
import type { RequestState } from './served-request.ts'
import { effectsId } from './call-identity.ts'
import type { RunStart } from './run.ts'
import type { Handler } from './finish-run.ts'

/** A call that goes on from the state that it came with, or begins. */
interface CallAttempt {
  readonly start?: RunStart | undefined
  readonly run: () => Awaitable<JsonObject>
}

/**
 * Answers a call with the result that it has had before, or runs it and keeps what it results in. That needs a store, an idempotency key, and a
 * caller whom others can be told apart from. What asks or goes on elsewhere is not kept, and reading is done again.
 */
export function answerOnce<T>(
  { name, hasEffects }: Pick<Handler<T>, 'name' | 'hasEffects'>,
  request: RequestState,
  { start, run }: CallAttempt,
): Awaitable<JsonObject> {
  const { settings, call, callId } = request
  const { idempotency } = settings
  const isStored = idempotency !== undefined && callId !== undefined && call.principal !== undefined
  if (!isStored || hasEffects !== true) return run()
  const journal = start?.journal
  const effects = journal === undefined ? callId : effectsId(journal, start?.responses)
  return after(effects, (id) => answerFrom(idempotency, { name, key: `mcp-result:${id}`, run }, request))
}

interface KeyedRun {
  readonly name: string
  /** Names the call, its caller and its answers. */
  readonly key: string
  readonly run: () => Awaitable<JsonObject>
}

/** Of two that run at the same time, the result of the first to end is the answer of both. A store that fails costs no call anything. */
async function answerFrom(options: IdempotencyOptions, keyed: KeyedRun, request: RequestState): Promise<JsonObject> {
  const { store, ttlMs = 600_000, maxCharacters = 262_144 } = options
  const read = async (): Promise<JsonObject | undefined> =>
    readResult(await unlessFailing(() => store.get(keyed.key), request, keyed))
  const before = await read()
  if (before !== undefined) return before
  const result = await keyed.run()
  if (result['resultType'] !== undefined && result['resultType'] !== 'complete') return result
  const text = JSON.stringify(result)
  if (text.length > maxCharacters) return result
  const isFirst = await unlessFailing(() => ownStore(store, request).add(keyed.key, text, ttlMs), request, keyed)
  return isFirst === false ? ((await read()) ?? result) : result
}

/** No caller's results take the place of another's. */
function ownStore(store: StateStore, { caller }: RequestState): StateStore {
  return store.ownedBy?.(caller) ?? store
}

async function unlessFailing<T>(
  use: () => Promise<T>,
  { method, settings }: RequestState,
  { name }: KeyedRun,
): Promise<T | undefined> {
  try {
    return await use()
  } catch (error) {
    report(error, { method, name }, settings)
    return undefined
  }
}

function readResult(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
