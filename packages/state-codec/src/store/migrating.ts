import { lifetimeOf } from '../claims/claim-rules.ts'
import { canonicalJson } from '../claims/canonical-json.ts'
import { checkToken } from '../claims/envelope.ts'
import type { JsonValue } from '../json.ts'
import type { ClaimOptions, OpenClaims, SealClaims, StateCodec } from '../state-codec.ts'
import { isStateError, StateError, StateUsageError } from '../state-error.ts'
import type { Platform } from '../token/platform.ts'
import {
  countMigration,
  type MigrationCount,
  type MigrationEvent,
  type MigrationPhase,
  type MigrationReport,
} from './migration.ts'
import { createRecords, handleLength, isHandle, type Records } from './records.ts'
import type { StateStore } from './state-store.ts'

/** The options of `migrating`. The claims' own apply to what is in the store; give the state codec the same. */
export interface MigratingOptions extends ClaimOptions {
  readonly phase: MigrationPhase
  /** The codec that the migration leads to. */
  readonly state: StateCodec
  /** The store that it leads away from; the phase `state` does without. */
  readonly store?: StateStore | undefined
  /** Told of everything that speaks for or against the next phase, at once. */
  readonly onEvent?: ((event: MigrationEvent) => void) | undefined
}

/** A codec on its way from a store to none. */
export interface MigratingCodec extends StateCodec {
  report(): MigrationReport
}

/** What a token consists of. A pair's two parts name each other, so that neither opens alone or with another. */
interface Parts {
  readonly handle: string | undefined
  readonly state: string | undefined
}

/** What the steps of a migration work with. */
interface Migration {
  readonly phase: MigrationPhase
  readonly codec: StateCodec
  readonly records: Records
  readonly counted: MigrationCount
}

/** A codec that moves from a store to tokens, phase by phase. */
export function createMigrating(options: MigratingOptions, platform: Platform): MigratingCodec {
  const { phase, state: codec, onEvent } = options
  const records = createRecords(storeOf(options), options, platform)
  const lifetimeMs = Math.max(lifetimeOf(records.rules), codec.lifetimeMs ?? 0)
  const counted = countMigration({ phase, lifetimeMs, now: () => records.rules.clock.now(), onEvent })
  const migration: Migration = { phase, codec, records, counted }
  return {
    lifetimeMs,
    report: counted.report,
    async seal(value, claims) {
      // One beginning for both parts, so that they age alike.
      const token = await sealers[phase](
        value,
        { ...claims, since: claims.since ?? records.rules.clock.now() },
        migration,
      )
      counted.count('sealed')
      return token
    },
    async open(token, claims) {
      checkToken(token)
      try {
        const value = await openParts(partsOf(token), claims, migration)
        counted.count('opened')
        return value
      } catch (error) {
        counted.count('refused')
        throw error
      }
    },
  }
}

function storeOf({ phase, store }: MigratingOptions): StateStore {
  if (!Object.hasOwn(sealers, phase)) {
    throw new StateUsageError('configuration', `phase is "${String(phase)}": give ${Object.keys(sealers).join(', ')}`)
  }
  if (store !== undefined) return store
  if (phase !== 'state') throw new StateUsageError('configuration', `The phase "${phase}" needs a store`)
  const none = async (): Promise<never> => {
    throw new StateError('missing', 'The phase "state" has no store')
  }
  return { add: none, get: none, delete: none }
}

type Sealer = (value: JsonValue, claims: SealClaims, migration: Migration) => Promise<string>

const sealers: Readonly<Record<MigrationPhase, Sealer>> = {
  store: sealHandle,
  dual: sealPair,
  'state-first': sealPair,
  state: (value, claims, { codec }) => codec.seal(value, claims),
}

async function sealHandle(value: JsonValue, claims: SealClaims, { records }: Migration): Promise<string> {
  const handle = records.newHandle()
  await records.write(handle, value, claims)
  return handle
}

async function sealPair(value: JsonValue, claims: SealClaims, migration: Migration): Promise<string> {
  const { codec, records, counted, phase } = migration
  const handle = records.newHandle()
  const state = await sealState(value, { ...claims, binding: pairedWith(handle, claims) }, migration)
  if (state === undefined) return sealHandle(value, claims, migration)
  try {
    await records.write(handle, value, { ...claims, binding: pairedWith(state, claims) })
  } catch (error) {
    if (phase !== 'state-first' || !isStateError(error) || error.code !== 'unavailable') throw error
    counted.note({ type: 'store_failed', purpose: claims.purpose, cause: error })
    return codec.seal(value, claims)
  }
  return `${handle}~${state}`
}

/** The state part, or nothing where the value cannot travel (it may be too large): then the store still can hold it. */
async function sealState(
  value: JsonValue,
  claims: SealClaims,
  { codec, counted }: Migration,
): Promise<string | undefined> {
  try {
    return await codec.seal(value, claims)
  } catch (error) {
    if (isStateError(error) && error.code === 'too_old') throw error
    counted.note({ type: 'unsealable', purpose: claims.purpose, cause: error })
    return undefined
  }
}

function pairedWith(other: string, { binding }: OpenClaims): JsonValue {
  return binding === undefined ? { 'x/state-codec/pair': other } : { 'x/state-codec/pair': other, binding }
}

function partsOf(token: string): Parts {
  if (isHandle(token)) return { handle: token, state: undefined }
  if (token[handleLength] !== '~') return { handle: undefined, state: token }
  return { handle: token.slice(0, handleLength), state: token.slice(handleLength + 1) }
}

async function openParts({ handle, state }: Parts, claims: OpenClaims, migration: Migration): Promise<JsonValue> {
  const { phase, codec, records, counted } = migration
  if (handle === undefined) return codec.open(state ?? '', claims)
  if (state === undefined) {
    counted.note({ type: 'handle_only', purpose: claims.purpose })
    return records.read(handle, claims)
  }
  const fromStore = (): Promise<JsonValue> => records.read(handle, { ...claims, binding: pairedWith(state, claims) })
  const fromState = (): Promise<JsonValue> => codec.open(state, { ...claims, binding: pairedWith(handle, claims) })
  if (phase === 'store') return fromStore()
  if (phase === 'state') return fromState()
  const both = { fromStore, fromState, purpose: claims.purpose, counted }
  return phase === 'dual' ? openBoth(both) : openFirst(both)
}

interface BothWays {
  readonly fromStore: () => Promise<JsonValue>
  readonly fromState: () => Promise<JsonValue>
  readonly purpose: string
  readonly counted: MigrationCount
}

/** The store decides; the state is opened to see whether it would have decided alike. */
async function openBoth({ fromStore, fromState, purpose, counted }: BothWays): Promise<JsonValue> {
  const [stored, state] = await Promise.allSettled([fromStore(), fromState()])
  if (isAlike(stored, state)) counted.count('agreed')
  else if (!isUnavailable(stored)) counted.note({ type: 'mismatch', purpose, ...failureOf(state) })
  if (stored.status === 'rejected') throw stored.reason
  return stored.value
}

/** The state decides; where it does not open, the store may still have what was written with it. */
async function openFirst({ fromStore, fromState, purpose, counted }: BothWays): Promise<JsonValue> {
  const [state] = await Promise.allSettled([fromState()])
  if (state.status === 'fulfilled') return state.value
  const [stored] = await Promise.allSettled([fromStore()])
  if (stored.status === 'rejected') throw state.reason
  counted.note({ type: 'fallback', purpose, ...failureOf(state) })
  return stored.value
}

type Outcome = PromiseSettledResult<JsonValue>

function isAlike(one: Outcome, other: Outcome): boolean {
  if (one.status === 'fulfilled' && other.status === 'fulfilled') {
    return canonicalJson(one.value) === canonicalJson(other.value)
  }
  return one.status === other.status && !isUnavailable(one)
}

function isUnavailable(outcome: Outcome): boolean {
  return outcome.status === 'rejected' && isStateError(outcome.reason) && outcome.reason.code === 'unavailable'
}

function failureOf(outcome: Outcome): Pick<MigrationEvent, 'code' | 'cause'> {
  if (outcome.status === 'fulfilled') return {}
  const { reason } = outcome
  return isStateError(reason) ? { code: reason.code, cause: reason } : { cause: reason }
}
