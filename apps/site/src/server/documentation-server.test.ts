import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { skillsClient } from '@x/skills/client'
import { readSkills } from '@x/skills/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createDocumentationServer } from './documentation-server.ts'
import { readPages } from './read-pages.ts'

const skillFolder = fileURLToPath(new URL('../../../../packages/server/skills', import.meta.url))
let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'site-'))
  await mkdir(`${folder}/guides`)
  await writeFile(`${folder}/guides/tasks.md`, '# Tasks\n\nWork in the background.\n\n## Stores\n\nUse PostgreSQL.\n')
  await writeFile(`${folder}/guides/replay.md`, '# Replay\n\nA handler runs again.\n')
  await writeFile(`${folder}/guides/replay.html`, '<h1>Replay</h1>')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const open = async () => {
  const server = createDocumentationServer(await readPages(folder), await readSkills(skillFolder))
  return createClient(server, { name: 'agent', version: '1.0.0', extensions: [skillsClient()] })
}

test('a section is found by its words, and its page is read', async () => {
  const client = await open()
  const { structuredContent } = await client.callTool('search_documentation', { query: 'postgresql' })
  expect(structuredContent).toMatchObject({ sections: [{ path: 'guides/tasks.md', heading: 'Stores' }] })
  const { content } = await client.callTool('read_page', { path: 'guides/tasks.md' })
  expect(content).toEqual([{ type: 'text', text: expect.stringContaining('Work in the background.') }])
})

test('a path that names no page is an error that a model can act on', async () => {
  const client = await open()
  const { isError, content } = await client.callTool('read_page', { path: '../package.json' })
  expect(isError).toBe(true)
  expect(content[0]).toMatchObject({ text: expect.stringContaining('take a path from search_documentation') })
})

test('each page is a resource, and an agent reads the skills of the server package', async () => {
  const client = await open()
  const resources = await client.listResources()
  expect(resources.map(({ uri }) => uri)).toEqual(
    expect.arrayContaining(['docs:///guides/replay.md', 'docs:///guides/tasks.md']),
  )
  const skills = await client.skills.list()
  expect(skills.map(({ frontmatter }) => frontmatter.name).toSorted()).toEqual(['migrate', 'write-server'])
  for (const skill of skills) expect((await client.skills.read(skill)).text).toContain('## Steps')
})

test('a site that was not built is an error that says how to build it', async () => {
  await expect(readPages(`${folder}/none`)).rejects.toThrow('run "pnpm run docs" first')
})
