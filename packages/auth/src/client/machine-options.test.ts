import { expect, test } from 'vitest'
import { enterprise } from './enterprise.ts'
import { clientCredentials, workload } from './machine.ts'

const client = { id: 'job', secret: 'a-secret-of-32-characters-or-more' }
const options = { issuer: 'https://login.example.com', client, isuer: 'https://other.example.com' }

test.each([
  ['clientCredentials', () => clientCredentials(options)],
  ['workload', () => workload({ ...options, assertion: () => 'jwt' })],
  [
    'enterprise',
    () => enterprise({ ...options, idp: { issuer: 'https://idp.example.com', client }, identity: () => '' }),
  ],
])('%s refuses an option that does not exist', (name, create) => {
  expect(create).toThrow(`${name} has no option \`isuer\`: did you mean \`issuer\`?`)
})
