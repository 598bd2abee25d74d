import type { JsonValue, OptionTable } from '@x/core'
import { checkToken, codecOptionTable, maxLifetimeOf, resolveCodecOptions } from '../envelope/envelope.ts'
import { canonicalizeJson } from '../envelope/canonical-json.ts'
import type { CodecOptions, TokenContext, OpenOptions, SealOptions, StateCodec, StateStore } from '../state-codec.ts'
import { isStateError, StateError, StateUsageError } from '../state-error.ts'
import type { CryptoProvider } from '../token/crypto-provider.ts'
import {
  MigrationCounter,
  type MigrationEvent,
  type MigrationPhase,
  type MigrationReport,
} from './migration-counter.ts'
import { handleLength, isHandle, HandleStore } from './handle-store.ts'

/**
 * Options of `migratingState`. The `CodecOptions` apply to values in the store. Give the codec in `state` the same.
 */
export interface MigratingOptions extends CodecOptions {
  readonly phase: MigrationPhase
  /** The codec to migrate to. `singleUseState` does not belong into it, but around `migratingState`. */
  readonly state: StateCodec
  /** Store to migrate from. Required in every phase except `state`. */
  readonly store?: StateStore | undefined
  /** Receives every event when it happens. */
  readonly onEvent?: ((event: MigrationEvent) => void) | undefined
}

const migratingOptionTable = {
  ...codecOptionTable,
  phase: undefined,
  state: undefined,
  store: undefined,
  onEvent: undefined,
} satisfies OptionTable<MigratingOptions>

/** Moves from states in a store to sealed tokens: opens both, and makes tokens. */
export interface MigratingCodec extends StateCodec {
  report(): MigrationReport
}

interface MigrationDeps {
  readonly phase: MigrationPhase
  readonly codec: StateCodec
  readonly handleStore: HandleStore
  readonly migrationCounter: MigrationCounter
}

/** Migrates from a store to tokens, phase by phase. */
export function createMigratingCodec(options: MigratingOptions, provider: CryptoProvider): MigratingCodec {
  const codecOptions = resolveCodecOptions(options, migratingOptionTable, 'migratingState')
  const { phase, state: codec, onEvent } = options
  const handleStore = new HandleStore(requireStore(options), codecOptions, provider)
  // The store opens its copy of a token again and again, so the codec alone cannot keep this promise.
  if (codec.opensOnce === true)
    throw new StateUsageError(
      'configuration',
      'state opens each token only once, and the store would open it again: write singleUseState(migratingState({ … }), store)',
    )
  const lifetimeMs = Math.max(maxLifetimeOf(codecOptions), codec.lifetimeMs ?? 0)
  const now = (): number => codecOptions.runtime.now()
  const migrationCounter = new MigrationCounter(phase, { lifetimeMs, now }, onEvent)
  const migration: MigrationDeps = { phase, codec, handleStore, migrationCounter }
  return {
    lifetimeMs,
    ping: async () => {
      // In the other phases, the target codec can seal and open tokens without the store.
      if (phase === 'store' || phase === 'dual') await handleStore.ping()
      await codec.ping?.()
    },
    report: () => migrationCounter.report(),
    async seal(value, context) {
      // Both parts have the same start of the flow, so they reach the maximum age at the same time.
      const { replaces } = context
      const token = await sealers[phase](
        value,
        {
          ...context,
          since: context.since ?? now(),
          replaces: replaces === undefined ? undefined : splitToken(replaces).handle,
        },
        migration,
      )
      migrationCounter.count('sealed')
      return token
    },
    async open(token, context) {
      checkToken(token)
      try {
        const value = await openParts(token, context, migration)
        migrationCounter.count('opened')
        return value
      } catch (error) {
        migrationCounter.count('rejected')
        throw error
      }
    },
  }
}

function requireStore({ phase, store }: MigratingOptions): StateStore {
  if (!Object.hasOwn(sealers, phase)) {
    throw new StateUsageError('configuration', `phase is "${String(phase)}": give ${Object.keys(sealers).join(', ')}`)
  }
  if (store !== undefined) return store
  if (phase !== 'state') throw new StateUsageError('configuration', `The phase "${phase}" needs a store`)
  const rejectMissingStore = async (): Promise<never> => {
    throw new StateError('missing', 'The phase "state" has no store')
  }
  return { add: rejectMissingStore, get: rejectMissingStore, delete: rejectMissingStore }
}

type Sealer = (value: JsonValue, context: SealOptions, migration: MigrationDeps) => Promise<string>

const sealers: Readonly<Record<MigrationPhase, Sealer>> = {
  store: sealHandle,
  dual: sealPair,
  'state-first': sealPair,
  state: (value, context, { codec }) => codec.seal(value, context),
}

async function sealHandle(value: JsonValue, context: SealOptions, { handleStore }: MigrationDeps): Promise<string> {
  const handle = handleStore.newHandle()
  await handleStore.write(handle, value, context)
  return handle
}

async function sealPair(value: JsonValue, context: SealOptions, migration: MigrationDeps): Promise<string> {
  const { codec, handleStore, migrationCounter, phase } = migration
  const handle = handleStore.newHandle()
  const state = await trySealState(value, { ...context, binding: createPairedBinding(handle, context) }, migration)
  if (state === undefined) return sealHandle(value, context, migration)
  try {
    await handleStore.write(handle, value, { ...context, binding: createPairedBinding(state, context) })
  } catch (error) {
    const isUnwritten = isStateError(error) && (error.code === 'unavailable' || error.code === 'quota')
    if (phase !== 'state-first' || !isUnwritten) throw error
    migrationCounter.record({ type: 'store_failed', purpose: context.purpose, cause: error })
    return codec.seal(value, context)
  }
  return `${handle}~${state}`
}

/** `undefined` if the value cannot be sealed, for example because it is too large. The store can still keep it. */
async function trySealState(
  value: JsonValue,
  context: SealOptions,
  { codec, migrationCounter }: MigrationDeps,
): Promise<string | undefined> {
  try {
    return await codec.seal(value, context)
  } catch (error) {
    if (isStateError(error) && error.code === 'too_old') throw error
    migrationCounter.record({ type: 'unsealable', purpose: context.purpose, cause: error })
    return undefined
  }
}

function createPairedBinding(otherPart: string, { binding }: TokenContext): JsonValue {
  return binding === undefined ? { 'x/state-codec/pair': otherPart } : { 'x/state-codec/pair': otherPart, binding }
}

/**
 * Each part of a token with both is bound to the other. Neither then opens without the other, or together with a part
 * of another token.
 */
function splitToken(token: string): { readonly handle: string | undefined; readonly state: string | undefined } {
  if (isHandle(token)) return { handle: token, state: undefined }
  if (token[handleLength] !== '~') return { handle: undefined, state: token }
  return { handle: token.slice(0, handleLength), state: token.slice(handleLength + 1) }
}

async function openParts(token: string, context: OpenOptions, migration: MigrationDeps): Promise<JsonValue> {
  const { handle, state } = splitToken(token)
  const { phase, codec, handleStore, migrationCounter } = migration
  if (handle === undefined) return codec.open(state ?? '', context)
  if (state === undefined) {
    migrationCounter.record({ type: 'handle_only', purpose: context.purpose })
    return handleStore.read(handle, context)
  }
  const readFromStore = (): Promise<JsonValue> =>
    handleStore.read(handle, { ...context, binding: createPairedBinding(state, context) })
  const readFromState = (): Promise<JsonValue> =>
    codec.open(state, { ...context, binding: createPairedBinding(handle, context) })
  if (phase === 'store') return readFromStore()
  if (phase === 'state') return readFromState()
  const dualRead = { readFromStore, readFromState, purpose: context.purpose, counter: migrationCounter }
  return phase === 'dual' ? openFromBothSources(dualRead) : openFromFirstSource(dualRead)
}

interface DualRead {
  readonly readFromStore: () => Promise<JsonValue>
  readonly readFromState: () => Promise<JsonValue>
  readonly purpose: string
  readonly counter: MigrationCounter
}

async function openFromBothSources({ readFromStore, readFromState, purpose, counter }: DualRead): Promise<JsonValue> {
  const [storeOutcome, stateOutcome] = await Promise.allSettled([readFromStore(), readFromState()])
  if (haveSameOutcome(storeOutcome, stateOutcome)) counter.count('agreed')
  else if (!isUnavailableOutcome(storeOutcome))
    counter.record({ type: 'mismatch', purpose, ...describeFailure(stateOutcome) })
  if (storeOutcome.status === 'rejected') throw storeOutcome.reason
  return storeOutcome.value
}

async function openFromFirstSource({ readFromStore, readFromState, purpose, counter }: DualRead): Promise<JsonValue> {
  const [stateOutcome] = await Promise.allSettled([readFromState()])
  if (stateOutcome.status === 'fulfilled') return stateOutcome.value
  const [storeOutcome] = await Promise.allSettled([readFromStore()])
  // If it could not be reached, the store may still open the token at the next attempt.
  if (storeOutcome.status === 'rejected')
    throw (isUnavailableOutcome(storeOutcome) ? storeOutcome : stateOutcome).reason
  counter.record({ type: 'fallback', purpose, ...describeFailure(stateOutcome) })
  return storeOutcome.value
}

type OpenOutcome = PromiseSettledResult<JsonValue>

function haveSameOutcome(one: OpenOutcome, other: OpenOutcome): boolean {
  if (one.status === 'fulfilled' && other.status === 'fulfilled') {
    return canonicalizeJson(one.value) === canonicalizeJson(other.value)
  }
  return one.status === other.status && !isUnavailableOutcome(one)
}

function isUnavailableOutcome(outcome: OpenOutcome): boolean {
  return outcome.status === 'rejected' && isStateError(outcome.reason) && outcome.reason.code === 'unavailable'
}

function describeFailure(outcome: OpenOutcome): Pick<MigrationEvent, 'code' | 'cause'> {
  if (outcome.status === 'fulfilled') return {}
  const { reason } = outcome
  return isStateError(reason) ? { code: reason.code, cause: reason } : { cause: reason }
}
