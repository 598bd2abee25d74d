import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { node24 } from '@tooling/node-versions'
import { legacy } from '@x/legacy'
import { createServer } from '@x/server'
import { readSkills } from '@x/skills/node'
import { skills } from '@x/skills/server'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'

const folder = fileURLToPath(new URL('../../../apps/ado-work-items/skills', import.meta.url))

test('the Inspector verifies every skill of the reference server', async () => {
  const extensions = [legacy(), skills({ files: await readSkills(folder) })]
  await using http = await serveHttp(createServer({ name: 'ours', version: '1.0.0', extensions }))
  const root = dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/inspector/package.json'))
  const program = join(root, 'clients/launcher/build/index.js')
  const args = [
    program,
    '--cli',
    http.url,
    '--method',
    'skills/list',
    '--verify',
    '--require-digests',
    '--format',
    'json',
  ]
  const { code, output } = await new Promise<{ readonly code: unknown; readonly output: string }>((resolve) => {
    execFile(node24, args, (error, out, err) => resolve({ code: error?.code ?? 0, output: `${out}${err}` }))
  })
  expect(output).toContain('skill://triage-bug/SKILL.md')
  expect(output).toContain('skill://resolve-in-bulk/SKILL.md')
  expect([code, output]).toEqual([0, output])
})
