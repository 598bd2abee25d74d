import assert from 'node:assert/strict'
import { readFileSync, rmSync } from 'node:fs'
import { beforeEach, test } from 'node:test'
import { stopAtEveryStep, testClient } from '@x/testing'
import { createBakery } from './bakery.mjs'

const answers = { guests: { guests: 8 } }
const removeOrders = () => rmSync('orders.txt', { force: true })
beforeEach(removeOrders)

test('a cake is ordered once, although another instance continues the call', async (t) => {
  const client = testClient(createBakery, { answers, restartBetweenRounds: true })
  t.after(() => client[Symbol.asyncDispose]())
  const { content } = await client.callTool('order', { cake: 'apple' })
  assert.equal(content[0].text, 'Ordered: one apple cake for 8')
  assert.equal(readFileSync('orders.txt', 'utf8'), 'one apple cake\n')
})

test('a cake is ordered once, although the handler is stopped after each step', async () => {
  const call = async (client) => {
    await client.callTool('order', { cake: 'apple' })
    return readFileSync('orders.txt', 'utf8')
  }
  const { stoppedSteps } = await stopAtEveryStep(createBakery, { answers, reset: removeOrders, call })
  assert.deepEqual(
    stoppedSteps.map(({ recordedKeys }) => recordedKeys),
    [['save']],
  )
})
