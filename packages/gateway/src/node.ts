/**
 * Bridges between stdio and HTTP, as programs of Node.
 *
 * @module @x/gateway/node
 */

export { type Bridge, bridge, type BridgeToHttp, type BridgeToStdio } from './bridge.ts'
