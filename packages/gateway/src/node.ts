/**
 * Bridges between stdio and HTTP, and gateways from a file, as programs of Node.
 *
 * @module @x/gateway/node
 */

export { type Bridge, bridge, type BridgeToHttp, type BridgeToStdio } from './bridge.ts'
export type { HttpSettings } from './config/operation.ts'
export { openPinFile, type PinFile } from './config/file-pins.ts'
export {
  GatewayFileError,
  type GatewaySettings,
  isGatewayFileError,
  readGatewayFile,
} from './config/read-gateway-file.ts'
export type { ServersFileInput } from './config/placeholders.ts'
export { readServersFile, type ServersFileLogin, type ServersFileOptions } from './config/read-servers-file.ts'
