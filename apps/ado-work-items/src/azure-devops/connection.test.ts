import { expect, test } from 'vitest'
import { ConfigurationError, connectionFrom } from './connection.ts'

const whole = { AZURE_DEVOPS_ORG: 'contoso', AZURE_DEVOPS_PROJECT: 'My Project', AZURE_DEVOPS_TOKEN: 'secret' }

test('an environment that says nothing describes no connection', () => {
  expect(connectionFrom({ AZURE_DEVOPS_URL: 'https://example.com' })).toBeUndefined()
})

test.each([
  ['a name', {}, 'https://dev.azure.com', 'contoso'],
  ['an address', { AZURE_DEVOPS_ORG: 'https://dev.azure.com/contoso/' }, 'https://dev.azure.com', 'contoso'],
  ['a server of its own', { AZURE_DEVOPS_URL: 'https://ado.example/tfs/' }, 'https://ado.example/tfs', 'contoso'],
])('the organization may be given by %s', (_, environment, baseUrl, organization) => {
  expect(connectionFrom({ ...whole, ...environment })).toEqual({
    baseUrl,
    organization,
    project: 'My Project',
    authorization: 'Basic OnNlY3JldA==',
  })
})

test.each([
  [{ AZURE_DEVOPS_ORG: undefined }, 'AZURE_DEVOPS_ORG must be set too'],
  [
    { AZURE_DEVOPS_PROJECT: '', AZURE_DEVOPS_TOKEN: undefined },
    'AZURE_DEVOPS_PROJECT and AZURE_DEVOPS_TOKEN must be set',
  ],
  [{ AZURE_DEVOPS_ORG: 'a/b' }, 'should be the name in https://dev.azure.com/<name>'],
  [{ AZURE_DEVOPS_URL: 'dev.azure.com' }, 'should be an address such as https://dev.azure.com'],
])('the environment with %j is refused', (change, message) => {
  const connect = () => connectionFrom({ ...whole, ...change })
  expect(connect).toThrow(ConfigurationError)
  expect(connect).toThrow(message)
})
