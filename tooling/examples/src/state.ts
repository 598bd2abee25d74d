import { createServer, type McpServer, type Tool } from '@x/server'
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

export function createCodec(keys: readonly KeyInput[]): StateCodec {
  return sealedState({ keys, audience: 'tickets', ttlMs: 15 * 60_000, maxAgeMs: 2 * 60 * 60_000 })
}

// #region server
// STATE_KEYS contains one key, or several during a rotation, separated by commas.
export const stateFromEnvironment = (): StateCodec =>
  sealedState({ keys: (process.env['STATE_KEYS'] ?? '').split(',') })

export const createTickets = (tools: readonly Tool[]): McpServer =>
  createServer({ name: 'tickets', version: '1.0.0', state: stateFromEnvironment(), tools })
// #endregion server

export async function openOrExplain(codec: StateCodec, token: string, log: (line: string) => void): Promise<unknown> {
  try {
    return await codec.open(token, { purpose: 'update_work_item' })
  } catch (error) {
    if (!isStateError(error)) throw error
    log(`${error.code}: ${error.detail}`)
    return error.message
  }
}

export function createStoredCodec(store: StateStore = memoryStore()): StateCodec {
  return storedState({ store, audience: 'tickets' })
}

export function createPaymentCodec(keys: readonly KeyInput[], store: StateStore): StateCodec {
  return singleUseState(sealedState({ keys, audience: 'payments' }), store)
}

// #region migrating
export function createMigratingCodec(
  phase: MigrationPhase,
  store: StateStore,
  keys: readonly KeyInput[],
): MigratingCodec {
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
