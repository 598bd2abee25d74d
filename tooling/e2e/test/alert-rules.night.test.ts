import { spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const guides = new URL('../../../docs/guides/', import.meta.url)

function checkRules(file: string): string {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', file], { encoding: 'utf8' })
  return stdout + stderr
}

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

test.runIf(hasPromtool)('promtool accepts the alert rules and the queries of the dashboard', async () => {
  expect(checkRules(fileURLToPath(new URL('telemetry-alerts.yml', guides)))).toContain('7 rules found')
  const { panels } = JSON.parse(await readFile(new URL('telemetry-dashboard.json', guides), 'utf8'))
  const rules = panels.map(({ id, targets: [{ expr }] }: { id: number; targets: [{ expr: string }] }) => ({
    record: `panel:${id}`,
    expr: expr.replaceAll(/\$(?:job|tool)/g, '.*'),
  }))
  const folder = await mkdtemp(join(tmpdir(), 'panels-'))
  const file = join(folder, 'panels.yml')
  // YAML contains JSON.
  await writeFile(file, JSON.stringify({ groups: [{ name: 'panels', rules }] }))
  expect(checkRules(file)).toContain(`${panels.length} rules found`)
  await rm(folder, { recursive: true })
})
