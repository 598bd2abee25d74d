export { sealed, signed } from './on-web.ts'
export { randomKey, type KeyInput } from './token/keys.ts'
export type { KeyedOptions } from './token/token-codec.ts'
export type { JsonArray, JsonObject, JsonValue } from './json.ts'
export type { ClaimOptions, OpenClaims, SealClaims, StateClock, StateCodec } from './state-codec.ts'
export {
  isStateError,
  StateError,
  type StateErrorCode,
  type StateUsageCode,
  StateUsageError,
} from './state-error.ts'
