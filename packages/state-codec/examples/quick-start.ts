import { isStateError, randomKey, sealedState } from '@x/state-codec'

// On a server: the same keys on every instance, from its secrets.
const codec = sealedState({ keys: process.env['STATE_KEYS']?.split(',') ?? [randomKey()], audience: 'tickets' })

const binding = { principal: 'ada', tool: 'update_work_item' }
const token = await codec.seal({ resolution: 'Duplicate' }, { purpose: 'tools/call', binding })
console.log(`a client carries ${token.length} bytes`)

console.log(await codec.open(token, { purpose: 'tools/call', binding }))

try {
  await codec.open(token, { purpose: 'tools/call', binding: { ...binding, principal: 'eve' } })
} catch (error) {
  if (isStateError(error)) console.log(`to the client: ${error.message}; to the log: ${error.code}`)
}
