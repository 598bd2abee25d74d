import { createHash } from 'node:crypto'
import { createClient } from '@x/client'
import { createServer, resource } from '@x/server'
import { describe, expect, test } from 'vitest'
import { skillsClient } from '../client.ts'
import { exampleFiles, skillFile } from '../testing/files.ts'
import { type SkillsOptions, skills } from './skills.ts'

const host = { name: 'host', version: '1.0.0' }
const definition = { name: 'demo', version: '1.0.0' }

function start(options: SkillsOptions = { files: exampleFiles }) {
  const server = createServer({ ...definition, extensions: [skills(options)] })
  const client = createClient(server, { ...host, extensions: [skillsClient()] })
  return { server, client }
}

/** A skill in each of many directories. Each has the number of files. */
const manySkills = (count: number, fileCount: number) =>
  Array.from({ length: count }, (_, index) => `skill-${String(index).padStart(4, '0')}`).flatMap((name) => [
    skillFile(name),
    ...Array.from({ length: fileCount - 1 }, (_, index) => ({ path: `${name}/${index}.md`, content: `${index}` })),
  ])

const sha256 = (content: string | Uint8Array) => `sha256:${createHash('sha256').update(content).digest('hex')}`

describe('a server with skills', () => {
  test('declares the extension, directories and resources [SKI-001 SKI-002]', async () => {
    const { capabilities } = await start().client.discover()
    expect(capabilities.extensions).toEqual({ 'io.modelcontextprotocol/skills': { directoryRead: true } })
    expect(capabilities.resources).toEqual({ listChanged: true, subscribe: true })
  })

  test('lists entries with digests and sizes of the files as they are read [SKI-014 SKI-015]', async () => {
    const { client } = start()
    const entries = await client.skills.list()
    expect(entries.map(({ uri }) => uri)).toEqual([
      'skill://support/refunds/SKILL.md',
      'skill://triage/SKILL.md',
      'skill://triage/escalate/SKILL.md',
    ])
    expect(entries[0]?.resources).toEqual([
      expect.objectContaining({ uri: 'skill://support/refunds/SKILL.md' }),
      { uri: 'skill://support/refunds/logo.png', digest: sha256(new Uint8Array([137, 80, 78, 71, 0, 255])), size: 6 },
    ])
  })

  test.each(['skills/list', 'skills/get', 'resources/directory/read'])(
    'answers %s with a complete result and its caching [SKI-019 SKI-021]',
    async (method) => {
      const { client } = start({ files: exampleFiles, cache: { ttlMs: 7, scope: 'public' } })
      const params = {
        'skills/list': {},
        'skills/get': { uri: 'skill://triage/SKILL.md' },
        'resources/directory/read': { uri: 'skill://triage' },
      }[method]
      const result = await client.request(method, params)
      expect(result).toMatchObject({ resultType: 'complete', ttlMs: 7, cacheScope: 'public' })
    },
  )

  test('lets only the cache of the caller store results for five minutes by default', async () => {
    const result = await start().client.request('skills/list')
    expect(result).toMatchObject({ ttlMs: 300_000, cacheScope: 'private' })
  })

  test('gives the entry of each skill by its URI [SKI-024]', async () => {
    const { client } = start()
    for (const entry of await client.skills.list()) expect(await client.skills.get(entry.uri)).toEqual(entry)
  })

  test.each([
    ['skills/get', { uri: 'skill://triage/reference/codes.md' }, 'No skill is served at'],
    ['skills/get', { uri: 'skill://other/SKILL.md' }, 'No skill is served at'],
    ['skills/get', {}, 'params.uri must be a string'],
    ['skills/list', { cursor: 'elsewhere' }, 'params.cursor is not a cursor of this list'],
    ['resources/directory/read', { uri: 'skill://triage/SKILL.md' }, 'is not a directory resource'],
    ['resources/directory/read', { uri: 'skill://triage/' }, 'is not a directory resource'],
    ['resources/directory/read', { uri: 'skill://other' }, 'is not a directory resource'],
    ['resources/read', { uri: 'skill://triage/other.md' }, 'Resource not found'],
  ])('rejects %s of %j with -32602 [SKI-023 SKI-031 SKI-034]', async (method, params, message) => {
    const error = expect.objectContaining({ code: -32602, message: expect.stringContaining(message) })
    await expect(start().client.request(method, params)).rejects.toMatchObject({ rpc: error })
  })

  test('lists every direct child of every directory [SKI-002 SKI-032]', async () => {
    const { client } = start()
    const list = async (uri: string) =>
      (await client.skills.readDirectory(uri)).map(({ uri: childUri, mimeType }) => [childUri, mimeType])
    expect(await list('skill://triage')).toEqual([
      ['skill://triage/SKILL.md', 'text/markdown'],
      ['skill://triage/escalate', 'inode/directory'],
      ['skill://triage/reference', 'inode/directory'],
    ])
    expect(await list('skill://triage/reference')).toEqual([
      ['skill://triage/reference/codes.md', 'text/markdown'],
      ['skill://triage/reference/old', 'inode/directory'],
    ])
    expect(await list('skill://support')).toEqual([['skill://support/refunds', 'inode/directory']])
  })

  test('lists each SKILL.md, described by its frontmatter, and reads every other file, too [SKI-008]', async () => {
    const server = createServer({
      ...definition,
      resources: [resource('text://motd', { name: 'motd', read: () => 'Be kind.' })],
      extensions: [skills({ files: exampleFiles })],
    })
    const client = createClient(server, host)
    const listed = await client.listResources()
    expect(listed.map(({ uri }) => uri)).toEqual([
      'text://motd',
      'skill://support/refunds/SKILL.md',
      'skill://triage/SKILL.md',
      'skill://triage/escalate/SKILL.md',
    ])
    expect(listed[2]).toMatchObject({ name: 'triage', description: 'Does triage', mimeType: 'text/markdown' })
    const { contents } = await client.readResource('skill://support/refunds/logo.png')
    expect(contents).toEqual([{ uri: 'skill://support/refunds/logo.png', mimeType: 'image/png', blob: 'iVBORwD/' }])
  })

  test('pages a catalogue of 1,000 skills, and splits no entry [SKI-022]', async () => {
    const { client } = start({ files: manySkills(1000, 3) })
    const first = await client.request('skills/list')
    expect(first['skills']).toHaveLength(250)
    expect(await client.skills.list()).toHaveLength(1000)
    expect(await client.listResources()).toHaveLength(1000)
  })

  test('continues a list after a change of the files', async () => {
    const { server, client } = start({ files: manySkills(1000, 1) })
    const { nextCursor } = await client.request('skills/list')
    await server.skills.replace(manySkills(600, 1).slice(100))
    const page = await client.request('skills/list', { cursor: String(nextCursor) })
    expect(page['skills']).toHaveLength(100)
  })
})

describe('server.skills.replace', () => {
  test('serves the new files, and notifies of the list and of the files that changed', async () => {
    const { server, client } = start()
    const before = await client.skills.get('skill://triage/SKILL.md')
    const changedUris = ['skill://triage/reference/codes.md', 'skill://triage/SKILL.md']
    const filter = { resourcesListChanged: true, resourceSubscriptions: changedUris }
    const events = client.listen(filter)[Symbol.asyncIterator]()
    expect((await events.next()).value).toMatchObject({ type: 'opened' })
    await server.skills.replace([
      ...exampleFiles.filter(({ path }) => path !== 'triage/reference/codes.md'),
      { path: 'triage/reference/codes.md', content: '# New codes\n' },
    ])
    expect((await events.next()).value).toEqual({ type: 'resourceUpdated', uri: changedUris[0] })
    await server.skills.replace([
      ...exampleFiles.filter(({ path }) => path !== 'triage/reference/codes.md'),
      { path: 'triage/reference/codes.md', content: '# New codes\n' },
      skillFile('new'),
    ])
    expect((await events.next()).value).toEqual({ type: 'resourcesListChanged' })
    await events.return?.()
    expect(await client.skills.get('skill://triage/SKILL.md')).not.toEqual(before)
    expect((await client.skills.get('skill://new/SKILL.md')).frontmatter.name).toBe('new')
  })

  test('keeps the files when the new ones cannot be served', async () => {
    const { server, client } = start()
    await expect(server.skills.replace([skillFile('Wrong')])).rejects.toMatchObject({ code: 'frontmatter' })
    expect(await client.skills.list()).toHaveLength(3)
  })

  test('keeps the files of the last call when several calls overlap', async () => {
    const { server, client } = start()
    await Promise.all([server.skills.replace(manySkills(50, 20)), server.skills.replace([skillFile('last')])])
    expect((await client.skills.list()).map(({ uri }) => uri)).toEqual(['skill://last/SKILL.md'])
  })
})

test('skills rejects an option that does not exist, and says which was meant', () => {
  // @ts-expect-error the option does not exist
  expect(() => skills({ files: [], pageSize: 10 })).toThrow('skills has no option `pageSize`')
})
