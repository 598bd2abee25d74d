import { type Exchange, serverOf } from '@x/exchange'
import { memoryStore } from '@x/state-codec'
import { testClient } from '@x/testing'
import { expect, test, vi } from 'vitest'
import { type Bank, payments } from '../src/idempotent-calls.ts'

const keys = ['790542bff40b8e3b703d2e5cd7d0920af99cd3c45c50e45fc62361d25563cfef']
const principal = { subject: 'ada', issuer: 'https://id.test' }

test('a payment whose response is lost in every round is made once, and its client receives the receipt', async () => {
  vi.stubEnv('STATE_KEYS', keys[0])
  const paid = new Map<string, string>()
  let payCalls = 0
  const bank: Bank = {
    async pay(amount, to, idempotencyKey) {
      payCalls++
      const receipt = paid.get(idempotencyKey) ?? `${amount} to ${to}`
      paid.set(idempotencyKey, receipt)
      return receipt
    },
  }
  const server = payments(bank, memoryStore())
  const lost = new Set<string>()
  const lossyExchange: Exchange = async (request, call) => {
    const response = await server.exchange(request, call)
    const sent = JSON.stringify([request.method, request.params?.['requestState'] === undefined])
    if (request.method !== 'tools/call' || lost.has(sent)) return response
    lost.add(sent)
    throw Object.assign(new Error('the connection ended before the response'), { name: 'HttpError', code: 'closed' })
  }
  const target = serverOf(lossyExchange, { info: server.info, localOnly: undefined })
  const client = testClient(target, { principal, answers: { to: { to: 'alice' } } })
  await client.listTools()
  const { content } = await client.callTool('pay', { amount: 5 })
  expect(content).toEqual([{ type: 'text', text: '5 to alice' }])
  expect([lost.size, paid.size, payCalls]).toEqual([2, 1, 1])
  vi.unstubAllEnvs()
})
