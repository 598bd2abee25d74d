import { ClientError, type ClientErrorCode } from '@x/client'
import { HttpError, type HttpErrorCode } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { explainFailure } from './explain-failure.ts'

const place = { method: 'tools/call' }
const origin = 'http://127.0.0.1:3000'

test.each<[ClientErrorCode, string]>([
  ['timeout', 'The server took too long to answer. It may have acted'],
  ['too_many_rounds', 'The server asked again and again'],
  ['input_required', 'The server asks for something that this page cannot give'],
  ['unsupported_version', 'Reload the page'],
  ['transport', 'The server did not answer.'],
  ['invalid_result', 'The call failed: tools/call: because'],
])('the error %s is explained', (code, words) => {
  expect(explainFailure(new ClientError(code, 'because', place))).toContain(words)
})

test.each<[HttpErrorCode, string]>([
  ['connect', 'The server cannot be reached. Is it still running?'],
  ['closed', 'The server cannot be reached. Is it still running?'],
  ['timeout', 'The server took too long to answer.'],
  ['status', 'The server answered with HTTP status 502.'],
  ['protocol', "The server's answer could not be understood: bytes"],
])('the failure %s of HTTP is explained', (code, words) => {
  const cause = new HttpError(code, 'bytes', { origin, status: 502 })
  expect(explainFailure(new ClientError('transport', 'no answer', { ...place, cause }))).toContain(words)
})

test('the words of a server that rejects are repeated', () => {
  const rpc = { code: -32602, message: 'Unknown tool' }
  expect(explainFailure(new ClientError('rpc', 'rejected', { ...place, rpc }))).toBe(
    'The server rejected the call: Unknown tool',
  )
})

test.each([
  [new DOMException('stopped', 'AbortError'), 'The call was stopped.'],
  [new TypeError('x is not a function'), 'The page failed: x is not a function'],
  ['nothing', 'The page failed: nothing'],
])('%s is explained', (error, words) => {
  expect(explainFailure(error)).toBe(words)
})
