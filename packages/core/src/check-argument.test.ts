import { expect, test } from 'vitest'
import { checkArgument } from './check-argument.ts'

test.each<[unknown, string]>([
  [undefined, ', and was given nothing'],
  ['https://a.test', ', and was given a string'],
  [{ listTools: undefined }, ': `listTools` is missing'],
])('%j for an argument is rejected with what would be right', (value, message) => {
  const check = () => checkArgument(value, { where: 'tools', takes: 'a client', needs: ['listTools'] })
  expect(check).toThrow(new TypeError(`tools takes a client${message}`))
})
