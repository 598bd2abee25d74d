import { expect, test } from 'vitest'
import { protect } from './protect.ts'

const resource = 'https://mcp.example.com/mcp'
const issuers = ['https://as.example']

test.each<[string, object, string]>([
  [
    'a misspelt `required`',
    { dpop: { require: true } },
    'protect, dpop, has no option `require`: did you mean `required`',
  ],
  ['a text for it', { dpop: { required: 'yes' } }, 'protect: dpop.required must be true or false, and is a string'],
  [
    'a misspelt mode',
    { dpop: 'require' },
    "protect: dpop must be 'accepted', 'required' or an object, and is a string",
  ],
  [
    'a misspelt introspection',
    { issuers: [{ issuer: issuers[0], introspect: {} }] },
    'issuers[0], has no option `introspect`',
  ],
  [
    'one algorithm for a list',
    { issuers: [{ issuer: issuers[0], algorithms: 'ES256' }] },
    'algorithms must be an array of strings',
  ],
])('%s, with which weaker tokens would be accepted unnoticed, is refused', (_, more, message) => {
  expect(() => protect(Object({ resource, issuers, ...more }))).toThrow(message)
})
