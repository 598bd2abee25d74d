import { expect, test } from 'vitest'
import { errorCodes, type JsonObject } from '@x/schema'
import type { ClientErrorCode } from './client-error-codes.ts'
import { ClientError } from './client-error.ts'

const call = { method: 'tools/call', target: 'pay' }
const rpcOf = (code: number, data?: JsonObject): object => ({ rpc: { code, message: 'no', data } })
const causeOf = (details: object): object => ({ cause: Object.assign(new Error('lost'), details) })

test.each<[string, ClientErrorCode, object, boolean]>([
  ['whose transport proves nothing', 'transport', causeOf({ mayHaveRun: true }), true],
  ['that the transport did not send', 'transport', causeOf({ mayHaveRun: false }), false],
  ['over a transport that does not say', 'transport', causeOf({}), true],
  ['that was given up', 'timeout', {}, true],
  ['that waited for a login', 'timeout', causeOf({ code: 'login_pending', mayHaveRun: false }), false],
  ['with arguments that no header can have', 'invalid_arguments', {}, false],
  ['with a result that is not valid', 'invalid_result', {}, true],
  ['that failed', 'rpc', rpcOf(errorCodes.internal), true],
  ['whose params are not valid', 'rpc', rpcOf(errorCodes.invalidParams), true],
  ['that is larger than the server reads', 'rpc', rpcOf(errorCodes.parse), false],
  ['of a method that the server does not have', 'rpc', rpcOf(errorCodes.methodNotFound), false],
  ['whose question the client cannot answer', 'rpc', rpcOf(errorCodes.missingRequiredClientCapability), true],
  ['that met a quota', 'rpc', rpcOf(errorCodes.internal, { reason: 'quota', limit: 'calls' }), false],
  ['that a stopping server ended', 'rpc', rpcOf(errorCodes.internal, { reason: 'stopping', begun: true }), true],
  ['that a gateway did not send', 'rpc', rpcOf(errorCodes.internal, { upstream: 'crm', begun: false }), false],
])('a call %s', (_title, code, details, expected) => {
  expect(new ClientError(code, 'failed', { ...call, ...details }).mayHaveRun).toBe(expected)
})

test('a method that only reads has no effect, however it fails', () => {
  expect(new ClientError('timeout', 'late', { method: 'resources/read' }).mayHaveRun).toBe(false)
  expect(new ClientError('timeout', 'late', { method: 'com.example/do' }).mayHaveRun).toBe(true)
})
