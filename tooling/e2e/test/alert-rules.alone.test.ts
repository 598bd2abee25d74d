import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const guides = new URL('../../../docs/guides/', import.meta.url)

function checkRules(args: readonly string[], input?: string): string {
  const { stdout, stderr } = spawnSync('promtool', ['check', 'rules', ...args], { input, encoding: 'utf8' })
  return stdout + stderr
}

const hasPromtool = spawnSync('promtool', ['--version']).error === undefined

test.runIf(hasPromtool)('promtool accepts the alert rules and the queries of the dashboard', async () => {
  expect(checkRules([fileURLToPath(new URL('telemetry-alerts.yml', guides))])).toContain('4 rules found')
  const { panels } = JSON.parse(await readFile(new URL('telemetry-dashboard.json', guides), 'utf8'))
  const rules = panels.map(({ id, targets: [{ expr }] }: { id: number; targets: [{ expr: string }] }) => ({
    record: `panel:${id}`,
    expr: expr.replaceAll(/\$(?:job|tool)/g, '.*'),
  }))
  // YAML contains JSON.
  expect(checkRules(['/dev/stdin'], JSON.stringify({ groups: [{ name: 'panels', rules }] }))).toContain(
    '10 rules found',
  )
})
