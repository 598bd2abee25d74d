import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomKey, sealedState, type StateCodec } from '@x/state-codec'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../testing/run-command.ts'

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpx-keys-'))
  file = join(folder, 'state.keys')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** Creates the codec of an instance that was deployed with the present file. */
async function deploy(): Promise<StateCodec> {
  return sealedState({ keys: (await readFile(file, 'utf8')).trim().split('\n') })
}

const claims = { purpose: 'requestState' }

describe('keys new', () => {
  test('writes a key that a codec takes, another one each time', async () => {
    const [first, second] = [await runCommand(['keys', 'new']), await runCommand(['keys', 'new', '--json'])]
    expect([first.code, second.code]).toEqual([0, 0])
    const keys = [first.out.trim(), Reflect.get(Object(second.json()), 'key')]
    expect(() => sealedState({ keys })).not.toThrow()
  })

  test('creates a file that only its owner can read, and never overwrites one', async () => {
    const created = await runCommand(['keys', 'new', '--keys-file', file])
    const key = (await readFile(file, 'utf8')).trim()
    expect([created.code, (await stat(file)).mode & 0o777]).toEqual([0, 0o600])
    expect(created.out).not.toContain(key)
    const again = await runCommand(['keys', 'new', '--keys-file', file])
    expect([again.code, again.err]).toEqual([1, `mcpx: ${file} exists; a key is never overwritten\n`])
    expect((await readFile(file, 'utf8')).trim()).toBe(key)
  })
})

describe('keys check', () => {
  test('names the key of a token, and fails for a key that the file does not have', async () => {
    await runCommand(['keys', 'new', '--keys-file', file])
    const token = await (await deploy()).seal('x', claims)
    const known = await runCommand(['keys', 'check', '--keys-file', file, '--token', token, '--json'])
    expect(known.code).toBe(0)
    const { keys, sealingId } = Object(known.json())
    expect(keys).toEqual([{ id: sealingId, seals: true }])
    const otherToken = await sealedState({ keys: [{ id: 'other', key: randomKey() }] }).seal('x', claims)
    const unknown = await runCommand(['keys', 'check', '--keys-file', file, '--token', otherToken])
    expect([unknown.code, unknown.out]).toEqual([
      1,
      expect.stringContaining(`The token was sealed with the key other, which is not in ${file}.`),
    ])
  })

  test.each([
    ['a passphrase', 'correct horse battery staple', 1, 'keys[0] is neither hex nor Base64'],
    ['half a key', 'abcdef', 1, 'keys[0] has 3 bytes'],
    ['no key', '# a comment', 2, 'has no keys'],
    ['a key twice', `${'0f1e2d3c4b5a69788796a5b4c3d2e1f0'.repeat(2)}\n`.repeat(2), 1, 'keys[1] is the same as keys[0]'],
  ])('rejects a file with %s, and does not write its content', async (_, text, expectedCode, message) => {
    await writeFile(file, text)
    const { code, out, err } = await runCommand(['keys', 'check', '--keys-file', file])
    expect([code, out]).toEqual([expectedCode, ''])
    expect(err).toContain(message)
    expect(err).not.toContain(text.trim().split('\n')[0])
  })

  test.each(['x', 'eyJhbGciOiJub25lIn0.a.b'])('rejects %s, which is no sealed token', async (token) => {
    await runCommand(['keys', 'new', '--keys-file', file])
    const { code, err } = await runCommand(['keys', 'check', '--keys-file', file, '--token', token])
    expect([code, err]).toEqual([2, expect.stringContaining('names no key')])
  })
})

describe('keys rotate', () => {
  const rotate = (step: string) => runCommand(['keys', 'rotate', step, '--keys-file', file, '--json'])

  test('in its three steps, a token opens on instances of the step before and of the step after', async () => {
    await runCommand(['keys', 'new', '--keys-file', file])
    // What a rotation that was killed has left.
    await writeFile(`${file}.new`, '')
    let deployed = await deploy()
    for (const step of ['add', 'use']) {
      expect((await rotate(step)).code).toBe(0)
      const next = await deploy()
      expect(await next.open(await deployed.seal(step, claims), claims)).toBe(step)
      expect(await deployed.open(await next.seal(step, claims), claims)).toBe(step)
      deployed = next
    }
    const last = await deployed.seal('last', claims)
    const dropped = await rotate('drop')
    const final = await deploy()
    expect(await final.open(last, claims)).toBe('last')
    expect(Object(dropped.json()).keys).toHaveLength(1)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
  })

  test.each(['use', 'drop'])('%s needs two keys', async (step) => {
    await runCommand(['keys', 'new', '--keys-file', file])
    const before = await readFile(file, 'utf8')
    const { code, err } = await rotate(step)
    expect([code, err]).toEqual([1, expect.stringContaining('begin with: mcpx keys rotate add --keys-file')])
    expect(await readFile(file, 'utf8')).toBe(before)
  })

  test('rejects a step that does not exist', async () => {
    expect(await rotate('forget')).toMatchObject({ code: 2, err: expect.stringContaining('write add, use or drop') })
  })
})
