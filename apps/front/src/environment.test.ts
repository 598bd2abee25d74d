import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { ConfigurationError, listIn, readVariables, serverVariables } from './environment.ts'

const [older, newer] = ['0f1e2d3c4b5a69788796a5b4c3d2e1f0', '8f1d2c3b4a5968778695a4b3c2d1e0ff'].map(
  (half) => half + half,
)
const required = { required: ['STATE_KEYS'] }

async function writeKeys(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'keys-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'state.keys'), text)
  return join(folder, 'state.keys')
}

test('keys come from a file, one a line and the newest first', async () => {
  const STATE_KEYS_FILE = await writeKeys(`${newer}\n\n  ${older}\n`)
  const { STATE_KEYS = '' } = readVariables(serverVariables, { STATE_KEYS_FILE }, required)
  expect(listIn(STATE_KEYS)).toEqual([newer, older])
})

test('a file without valid keys is rejected, and no key is shown', async () => {
  const STATE_KEYS_FILE = await writeKeys('topsecret\n')
  const read = () => readVariables(serverVariables, { STATE_KEYS_FILE }, required)
  expect(read).toThrow('STATE_KEYS_FILE cannot be used: keys[0]')
  expect(read).not.toThrow('topsecret')
  expect(() => readVariables(serverVariables, { STATE_KEYS_FILE: '/none' }, required)).toThrow('ENOENT')
})

test('all problems are reported at once [OPS-014]', async () => {
  const STATE_KEYS_FILE = await writeKeys(`${newer}\n`)
  const environment = { PORT: 'x', HOST: '0.0.0.0', STATE_KEYS: newer, STATE_KEYS_FILE }
  const read = () => readVariables(serverVariables, environment, required)
  expect(read).toThrow(ConfigurationError)
  expect(read).toThrow(
    [
      'ALLOWED_HOSTS is not set: it should be host names with commas between them, such as mcp.example.com',
      'STATE_KEYS and STATE_KEYS_FILE are both set: set one of them',
      'PORT cannot be used: it should be a port from 0 to 65535',
    ].join('\n'),
  )
})

test('an empty variable counts as absent', () => {
  expect(() => readVariables(serverVariables, { STATE_KEYS: '' }, required)).toThrow('STATE_KEYS is not set')
  expect(readVariables(serverVariables, { PORT: '', HOST: '' }, { required: [] })).toEqual({})
})
