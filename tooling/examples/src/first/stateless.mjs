import { createClient } from '@x/client'
import { createServer, form, randomKey, tool } from '@x/server'
import { memoryStore, migratingState, sealedState, storedState } from '@x/state-codec'
import * as z from 'zod'

const schema = form(z.object({ resolution: z.enum(['Fixed', 'Duplicate']) }))
const resolve = tool('resolve', {
  description: 'Resolves a bug',
  run: async (_, ctx) => (await ctx.elicit('resolution', { message: 'How was it resolved?', schema })).resolution,
})

const keys = [randomKey()]
const sealed = sealedState({ keys })
const phases = {
  before: (store) => storedState({ store }),
  store: (store) => migratingState({ phase: 'store', store, state: sealed }),
  dual: (store) => migratingState({ phase: 'dual', store, state: sealed }),
  'state-first': (store) => migratingState({ phase: 'state-first', store, state: sealed }),
  state: (store) => migratingState({ phase: 'state', store, state: sealed }),
  after: () => sealed,
}

/**
 * Makes a call whose first round runs at an instance of one phase, and whose second round runs at an instance of
 * another.
 */
async function call(first, second, { storeIsLost = false } = {}) {
  const store = memoryStore()
  const instances = [
    createInstance(phases[first](store)),
    createInstance(phases[second](storeIsLost ? memoryStore() : store)),
  ]
  let heldState
  // Simulates a load balancer: each request goes to the next instance.
  const balancer = async (request, options) => {
    const response = await instances.shift().exchange(request, options)
    heldState ??= response.result.requestState
    return response
  }
  const elicit = () => ({ action: 'accept', content: { resolution: 'Fixed' } })
  const client = createClient(balancer, { name: 'host', version: '1.0.0', elicit })
  const result = await client
    .callTool('resolve')
    .catch((error) => ({ content: [{ text: error.message.split(': ').at(-1) }] }))
  return { heldState: heldState.split('~').map(nameOf).join(' and '), result: result.content[0].text }
}

// The servers log nothing, because the calls without a record fail on purpose.
const createInstance = (state) => createServer({ name: 'bugs', version: '1.0.0', state, tools: [resolve], log() {} })
const nameOf = (part) => (part.length < 64 ? 'a handle' : 'a token')

console.log('The client holds:')
for (const phase of Object.keys(phases)) console.log(`  ${phase}: ${(await call(phase, phase)).heldState}`)

console.log('A call that begins in a phase, and ends in the next one:')
const names = Object.keys(phases)
for (const [index, next] of names.slice(1).entries()) {
  console.log(`  ${names[index]}, ${next}: ${(await call(names[index], next)).result}`)
}

console.log('A call whose record is lost from the store:')
for (const phase of names) console.log(`  ${phase}: ${(await call(phase, phase, { storeIsLost: true })).result}`)
