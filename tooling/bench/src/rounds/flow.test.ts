import { expect, test } from 'vitest'
import { firstCall, flowBody, nextOf } from './flow.ts'

test('a retry is the first request with the answers and the unchanged state', () => {
  const retry = nextOf({ inputRequests: { resolution: {} }, requestState: 'a"b' })
  const first: { params: object } = JSON.parse(firstCall().body)
  const answered = { resolution: { action: 'accept', content: { resolution: 'Duplicate' } } }
  expect(JSON.parse(flowBody(retry))).toEqual({
    ...first,
    params: { ...first.params, inputResponses: answered, requestState: 'a"b' },
  })
  expect(JSON.parse(flowBody({}))).toEqual(first)
})

test('a retry has no state if the result had none', () => {
  expect(nextOf({ inputRequests: { original: {} } })).not.toHaveProperty('requestState')
})

test('an unknown question is an error', () => {
  expect(() => nextOf({ inputRequests: { name: {} } })).toThrow('the server asks for name')
})
