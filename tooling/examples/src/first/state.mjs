import { randomKey, sealedState } from '@x/state-codec'

const codec = sealedState({ keys: [randomKey()] })
const forAda = { purpose: 'cart', binding: { user: 'ada' } }
const forBob = { purpose: 'cart', binding: { user: 'bob' } }

const token = await codec.seal({ items: ['tea'] }, forAda)
console.log(await codec.open(token, forAda))

try {
  await codec.open(token, forBob)
} catch (error) {
  console.log(error.message)
}
