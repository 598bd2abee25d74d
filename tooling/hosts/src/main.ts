import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { startPostgres } from '@tooling/real-servers/postgres'
import { createStateTable } from '@x/state-codec/postgres'
import { drawHosts } from './draw-hosts.ts'
import { hosts } from './hosts/hosts.ts'
import { type HostResult, runHost } from './run-host.ts'

const file = fileURLToPath(new URL('../../../docs/hosts.json', import.meta.url))
const profiles = fileURLToPath(new URL('../../../packages/cli/src/dev/calls/host-profiles.json', import.meta.url))
const page = fileURLToPath(new URL('../../../docs/hosts.md', import.meta.url))
const names = process.argv.slice(2)
const chosen = names.length === 0 ? hosts : hosts.filter(({ name }) => names.includes(slug(name)))
if (chosen.length === 0 || chosen.length < names.length) {
  console.error(`usage: pnpm hosts [NAME…], with names of ${hosts.map(({ name }) => slug(name)).join(', ')}`)
  process.exit(2)
}

// What was started ends with this process.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
const postgres = await startPostgres()
try {
  await createStateTable(postgres.url)
  for (const host of chosen) {
    const start = performance.now()
    const result = await runHost(host, { database: postgres.url })
    await store(result)
    print(result, performance.now() - start)
  }
} finally {
  await postgres.close()
}

function slug(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-')
}

async function store(result: HostResult): Promise<void> {
  const stored: HostResult[] = JSON.parse(await readFile(file, 'utf8').catch(() => '[]'))
  const all = new Map([...stored, result].map((one) => [one.host, one]))
  const ordered = hosts.flatMap(({ name }) => all.get(name) ?? [])
  await writeFile(file, `${JSON.stringify(ordered, null, 2)}\n`)
  // mcpx dev acts as these hosts, so its package has a copy of what they declare.
  const declared = ordered
    .filter(({ kind, host }) => kind === 'agent' || host === 'Inspector CLI')
    .map(({ host, revision, clientInfo, capabilities }) => ({ host, revision, clientInfo, capabilities }))
  await writeFile(profiles, `${JSON.stringify(declared, null, 2)}\n`)
  await writeFile(page, drawHosts(await readFile(page, 'utf8'), ordered))
}

function print({ host, version, revision, cells }: HostResult, ms: number): void {
  console.log(`${host} ${version} speaks ${revision} (${Math.round(ms / 1000)} s)`)
  for (const [place, row] of Object.entries(cells)) {
    for (const [feature, { outcome, seen }] of Object.entries(row)) {
      const remark = outcome === 'works' ? '' : `: ${seen.replaceAll('\n', '\n      ')}`
      console.log(`  ${place}, ${feature}: ${outcome}${remark}`)
    }
  }
}
