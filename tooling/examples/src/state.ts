import {
  isStateError,
  type KeyInput,
  memoryStore,
  migratingState,
  type MigratingCodec,
  type MigrationPhase,
  sealedState,
  singleUseState,
  type StateCodec,
  type StateStore,
  storedState,
} from '@x/state-codec'

// #region sealed
export function createCodec(keys: readonly KeyInput[]): StateCodec {
  return sealedState({ keys, audience: 'tickets', ttlMs: 15 * 60_000, maxAgeMs: 2 * 60 * 60_000 })
}
// #endregion sealed

// #region keys
// STATE_KEYS holds one key, or two during a rotation, with a comma between them.
export const keysFromEnvironment = (): readonly string[] => (process.env['STATE_KEYS'] ?? '').split(',')
// #endregion keys

// #region refused
export async function openOrExplain(codec: StateCodec, token: string, log: (line: string) => void): Promise<unknown> {
  try {
    return await codec.open(token, { purpose: 'update_work_item' })
  } catch (error) {
    if (!isStateError(error)) throw error
    log(`${error.code}: ${error.detail}`)
    return error.message
  }
}
// #endregion refused

// #region stored
export function createStoredCodec(store: StateStore = memoryStore()): StateCodec {
  return storedState({ store, audience: 'tickets' })
}
// #endregion stored

// #region single-use
export function createPaymentCodec(keys: readonly KeyInput[], store: StateStore): StateCodec {
  return singleUseState(sealedState({ keys, audience: 'payments' }), store)
}
// #endregion single-use

// #region migrating
export function createMovingCodec(phase: MigrationPhase, store: StateStore, keys: readonly KeyInput[]): MigratingCodec {
  const claims = { audience: 'tickets', ttlMs: 15 * 60_000, maxAgeMs: 2 * 60 * 60_000 }
  return migratingState({
    ...claims,
    phase,
    store,
    state: sealedState({ ...claims, keys }),
    onEvent: ({ type, purpose, code }) => console.warn('state migration', { type, purpose, code }),
  })
}
// #endregion migrating
