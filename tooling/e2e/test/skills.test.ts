import { fileURLToPath } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { legacy } from '@x/legacy'
import { createServer } from '@x/server'
import { readSkills } from '@x/skills/node'
import { skills } from '@x/skills/server'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../../packages/skills/examples/skills', import.meta.url))
const uri = 'skill://triage-bug/SKILL.md'
const info = { name: 'ours', version: '1.0.0' }

const serveSkills = async () =>
  serveHttp(createServer({ ...info, extensions: [legacy(), skills({ files: await readSkills(folder) })] }))

describe('the skills of our server', () => {
  test('are listed, read and verified by the official client', async () => {
    await using http = await serveSkills()
    const client = new Client(
      { name: 'official', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
    const official = new SkillsClient(client)
    expect([official.supported, official.directoryRead]).toEqual([true, true])
    const { skills: entries, invalid } = await official.list({})
    expect([entries.map((entry) => entry.uri), invalid]).toEqual([[uri], []])
    const [entry] = entries
    if (entry === undefined) throw new Error('the list is empty')
    expect(await official.read(entry)).toMatchObject({ verified: true, frontmatter: { name: 'triage-bug' } })
    expect(await official.read(entry, 'reference/severities.md')).toMatchObject({ verified: true })
    const { resources } = await official.readDirectory('skill://triage-bug')
    expect(resources.map(({ name }) => name)).toEqual(['triage-bug', 'reference'])
    await expect(official.get('skill://other/SKILL.md')).rejects.toMatchObject({ code: -32602 })
    await client.close()
  })

  test('are resources for a host of an earlier revision', async () => {
    await using http = await serveSkills()
    const client = new OlderClient({ name: 'older', version: '1.0.0' })
    await client.connect(new OlderTransport(new URL(http.url)))
    expect((await client.listResources()).resources).toMatchObject([{ uri, name: 'triage-bug' }])
    const { contents } = await client.readResource({ uri: 'skill://triage-bug/reference/severities.md' })
    expect(contents).toMatchObject([{ mimeType: 'text/markdown', text: expect.stringContaining('loses or reveals') }])
    await client.close()
  })
})
