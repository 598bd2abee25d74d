import { expect, test } from 'vitest'
import { ConfigurationError, instanceVariables, readConfiguration } from './configuration.ts'

const [older, newer] = ['0f1e2d3c4b5a69788796a5b4c3d2e1f0', '8f1d2c3b4a5968778695a4b3c2d1e0ff'].map(
  (half) => half + half,
)
const azure = { AZURE_DEVOPS_ORG: 'contoso', AZURE_DEVOPS_PROJECT: 'My Project', AZURE_DEVOPS_TOKEN: 's3cret' }
const database = 'postgres://me:s3cret@host:5433/tasks?sslmode=require'
const whole = { ...azure, STATE_KEYS: `${newer}, ${older}`, TASKS_DATABASE: database }

test('an environment that says nothing has defaults, and nothing else', () => {
  expect(readConfiguration({ PORT: '', STATE_KEYS: '', AZURE_DEVOPS_ORG: '' })).toEqual({
    port: 4522,
    host: '127.0.0.1',
  })
})

test('an instance is configured by its environment alone', () => {
  const deployed = { ...whole, PORT: '8080', HOST: '0.0.0.0', ALLOWED_HOSTS: 'mcp.example.com, 10.0.0.1:8080' }
  expect(readConfiguration({ ...deployed, TASKS_TAKEOVER_MS: '2000' }, instanceVariables)).toMatchObject({
    port: 8080,
    host: '0.0.0.0',
    allowedHosts: ['mcp.example.com', '10.0.0.1:8080'],
    tasksDatabase: database,
    takeoverMs: 2000,
  })
})

test('a key is rotated while calls run: the first key seals, and all of them open', async () => {
  const claims = { purpose: 'test' }
  const [before, both, after] = [older, whole.STATE_KEYS, newer].map(
    (keys) => readConfiguration({ STATE_KEYS: keys }).state,
  )
  const token = (await before?.seal({ a: 1 }, claims)) ?? ''
  await expect(both?.open(token, claims)).resolves.toEqual({ a: 1 })
  await expect(after?.open(token, claims)).rejects.toMatchObject({ name: 'StateError' })
})

test.each([
  ['a name', {}, 'https://dev.azure.com'],
  ['an address', { AZURE_DEVOPS_ORG: 'https://dev.azure.com/contoso/' }, 'https://dev.azure.com'],
  ['a server of its own', { AZURE_DEVOPS_URL: 'https://ado.example/tfs/' }, 'https://ado.example/tfs'],
])('the organization may be given by %s', (_, environment, baseUrl) => {
  expect(readConfiguration({ ...azure, ...environment }).azureDevOps).toEqual({
    baseUrl,
    organization: 'contoso',
    project: 'My Project',
    authorization: 'Basic OnMzY3JldA==',
  })
})

test('tokens are accepted of the issuers, for the endpoint', () => {
  const auth = { AUTH_ISSUERS: 'https://a.example, https://b.example/', AUTH_RESOURCE: 'https://mcp.example.com/mcp' }
  expect(readConfiguration({ ...auth, AUTH_DPOP: 'required' }).authorization).toEqual({
    resource: 'https://mcp.example.com/mcp',
    issuers: ['https://a.example', 'https://b.example/'],
    dpopRequired: true,
  })
})

test('all problems are named at once', () => {
  const environment = { PORT: '65536', HOST: '0.0.0.0', STATE_KEYS: 's3cret', AZURE_DEVOPS_ORG: 'a/b' }
  expect(problemsOf(environment, instanceVariables)).toEqual([
    'TASKS_DATABASE is not set: it should be a URL such as postgres://user:password@host:5432/database',
    'AZURE_DEVOPS_PROJECT is not set: it should be the name of a project',
    'AZURE_DEVOPS_TOKEN is not set: it should be a personal access token',
    'ALLOWED_HOSTS is not set: it should be host names with commas between them, such as mcp.example.com',
    'PORT cannot be used: it should be a port from 0 to 65535',
    expect.stringMatching(/^STATE_KEYS cannot be used: keys\[0]/),
    'AZURE_DEVOPS_ORG cannot be used: it should be the name in https://dev.azure.com/<name>, or that address',
  ])
})

test.each([
  [{ TASKS_DATABASE: 'mysql://me:s3cret@host/tasks' }, 'TASKS_DATABASE'],
  [{ TASKS_DATABASE: 'postgres://me:s3cret@host:port/tasks' }, 'TASKS_DATABASE'],
  [{ TASKS_TAKEOVER_MS: '499' }, 'TASKS_TAKEOVER_MS'],
  [{ TASKS_TAKEOVER_MS: '1e4' }, 'TASKS_TAKEOVER_MS'],
  [{ STATE_KEYS: `${older},` }, 'STATE_KEYS'],
  [{ STATE_KEYS: 's3cret horse battery staple' }, 'STATE_KEYS'],
  [{ ALLOWED_HOSTS: 'https://mcp.example.com' }, 'ALLOWED_HOSTS'],
  [{ AUTH_ISSUERS: 'example.com', AUTH_RESOURCE: 'https://example.com/mcp' }, 'AUTH_ISSUERS'],
  [{ AUTH_DPOP: 'yes' }, 'AUTH_DPOP'],
  [{ AUTH_ISSUERS: 'https://a.example' }, 'AUTH_RESOURCE'],
  [{ AZURE_DEVOPS_PROJECT: 'My Project', AZURE_DEVOPS_TOKEN: 's3cret' }, 'AZURE_DEVOPS_ORG'],
])('the environment %j is rejected without being shown', (environment, name) => {
  const [problem, ...others] = problemsOf(environment)
  expect(problem).toContain(`${name} `)
  expect(problem).not.toContain('s3cret')
  expect(others).toEqual([])
})

function problemsOf(environment: NodeJS.ProcessEnv, required?: typeof instanceVariables): readonly string[] {
  try {
    readConfiguration(environment, required)
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message.split('\n')
    throw error
  }
  return []
}
