import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { measureInstall } from '../src/installed/install.ts'
import { type LocalRegistry, startRegistry } from '../src/installed/local-registry.ts'
import { listEntries, type PackageEntries } from '../src/installed/packed-packages.ts'
import { importedPackages, readProgram } from '../src/installed/readme-program.ts'
import { readBillOfMaterials, type ReleaseJob, runReleaseJob } from '../src/installed/release-workflow.ts'
import { runCommand, startAsImage, startWorker } from '../src/installed/run-command.ts'
import { copyWorkspace, increaseAll, patchesOf, type WorkspaceCopy } from '../src/installed/workspace-copy.ts'
import { followReadme, serveDeployFolder } from './documented-servers.ts'
import { followTutorial } from './tutorial-steps.ts'

/** Each package, with the other packages of the workspace that it installs. */
const siblings: ReadonlyMap<string, readonly string[]> = new Map([
  ['@x/apps', ['@x/core', '@x/exchange', '@x/schema']],
  ['@x/auth', ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec']],
  [
    '@x/cli',
    [
      '@x/apps',
      '@x/auth',
      '@x/client',
      '@x/core',
      '@x/exchange',
      '@x/gateway',
      '@x/legacy',
      '@x/openapi',
      '@x/schema',
      '@x/server',
      '@x/skills',
      '@x/state-codec',
      '@x/tasks',
      '@x/transport-http',
      '@x/transport-stdio',
    ],
  ],
  ['@x/client', ['@x/core', '@x/exchange', '@x/schema']],
  ['@x/core', []],
  ['@x/exchange', ['@x/core', '@x/schema']],
  ['@x/gateway', ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec']],
  ['@x/legacy', ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec']],
  ['@x/openapi', ['@x/core', '@x/exchange', '@x/schema', '@x/server', '@x/state-codec']],
  ['@x/schema', ['@x/core']],
  ['@x/server', ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec']],
  ['@x/sessions', ['@x/core', '@x/exchange', '@x/schema', '@x/state-codec']],
  ['@x/skills', ['@x/core', '@x/exchange', '@x/schema']],
  ['@x/state-codec', ['@x/core']],
  ['@x/tasks', ['@x/core', '@x/exchange', '@x/schema']],
  ['@x/testing', ['@x/client', '@x/core', '@x/exchange', '@x/schema', '@x/server', '@x/state-codec']],
  ['@x/transport-http', ['@x/core', '@x/exchange', '@x/schema']],
  ['@x/transport-stdio', ['@x/core', '@x/exchange', '@x/schema']],
])
/** The optional peers that a user of all entries of a package installs. */
const optionalPeers: ReadonlyMap<string, readonly string[]> = new Map([
  ['@x/apps', ['@x/server']],
  ['@x/client', ['@opentelemetry/api']],
  ['@x/exchange', ['minisearch']],
  ['@x/gateway', ['@x/auth', '@x/legacy', '@x/transport-http', '@x/transport-stdio', 'minisearch']],
  ['@x/legacy', ['@x/transport-http', '@x/transport-stdio', '@x/client']],
  ['@x/server', ['@opentelemetry/api', 'minisearch']],
  ['@x/sessions', ['@x/client']],
  ['@x/skills', ['@x/client']],
  ['@x/tasks', ['@x/client', '@x/server']],
])
const names = [...siblings.keys()]
const dependentsOfClient = ['@x/cli', '@x/sessions', '@x/skills', '@x/tasks', '@x/testing']
/** The time in milliseconds after which a test is taken to hang. Builds and installations wait for a busy machine. */
const hangMs = 15 * 60_000
/** Runs the program of a README on any free port and closes the server that it may export. */
const runProgram = "process.env.PORT = '0'\nconst { http } = await import('./program.mjs')\nawait http?.close()\n"

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(`${tmpdir()}/release-`)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('a release to a local registry', () => {
  let published: LocalRegistry
  let copy: WorkspaceCopy
  let entries: readonly PackageEntries[] = []
  let dryRun = ''
  let archives = ''
  let versions: ReadonlyMap<string, string> = new Map()
  const publish = (): Promise<string> =>
    copy.node('tooling/run/release.mjs', ['--skip-verify'], { ...published.publishing })
  const runJob = (job: Pick<ReleaseJob, 'name' | 'artifact' | 'env'>): Promise<string> =>
    runReleaseJob({ ...job, place: folder, from: copy.folder })
  const installFrom = (place: string, packages: readonly string[]): Promise<string> =>
    runCommand(
      'npm',
      ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', ...packages],
      place,
    )

  beforeAll(async () => {
    published = await startRegistry(`${folder}/registry`)
    copy = await copyWorkspace(`${folder}/release`)
    entries = await listEntries(copy.folder)
    versions = await copy.version()
    dryRun = await runJob({ name: 'pack' })
    archives = `${folder}/pack/.results/packed`
    await runJob({ name: 'publish', artifact: { of: 'pack', file: 'packed' }, env: published.publishing })
  }, hangMs)
  afterAll(() => published.close())

  const latestOfAll = async (): Promise<ReadonlyMap<string, string | undefined>> =>
    new Map(await Promise.all(names.map(async (name) => [name, await published.latest(name)] as const)))
  const find = (name: string): PackageEntries => {
    const found = entries.find((one) => one.name === name)
    if (found === undefined) throw new Error(`${name} is not in the workspace`)
    return found
  }

  test('the job that publishes installs nothing', async () => {
    expect(await readdir(`${folder}/publish`)).not.toContain('node_modules')
  })

  test('the bill of materials names every package, and what they install', async () => {
    const listed = await readBillOfMaterials(`${archives}/sbom.cdx.json`)
    expect(listed).toEqual(expect.arrayContaining([...names, 'undici']))
  })

  test('publishes every package of the workspace, with a tag for each', async () => {
    expect(entries.map(({ name }) => name).toSorted()).toEqual(names)
    expect(await latestOfAll()).toEqual(versions)
    const tags = await runCommand('git', ['tag', '--list'], copy.folder)
    expect(tags.trim().split('\n')).toEqual([...versions].map(([name, version]) => `${name}@${version}`))
  })

  // They wait for npm, each in a folder of its own.
  test.concurrent.each(names)(
    '%s installs only its dependencies, runs the program of its README, and every entry can be imported',
    async (name) => {
      const { readme, entries: specifiers, versions } = find(name)
      const place = `${folder}/user-${name.replace('/', '-')}`
      await published.consumer(place)
      await installFrom(place, [name])
      const ours = (await measureInstall(place)).packages.filter((installed) => names.includes(installed))
      expect(ours.toSorted()).toEqual([name, ...(siblings.get(name) ?? [])].toSorted())
      const program = await readProgram(await readFile(readme, 'utf8'), readme)
      const required = [...(optionalPeers.get(name) ?? []), ...importedPackages(program)].filter((one) => one !== name)
      const versioned = required.map((one) =>
        versions.has(one) && !names.includes(one) ? `${one}@${versions.get(one)}` : one,
      )
      if (versioned.length > 0) await installFrom(place, versioned)
      await writeFile(`${place}/program.mjs`, program)
      await writeFile(`${place}/run.mjs`, runProgram)
      await runCommand(process.execPath, ['run.mjs'], place)
      await writeFile(`${place}/entries.mjs`, specifiers.map((entry) => `await import('${entry}')`).join('\n'))
      await runCommand(process.execPath, ['entries.mjs'], place)
    },
    hangMs,
  )

  test('a store whose optional client is not installed names the package and the command', async () => {
    const place = `${folder}/user-@x-state-codec`
    const program = "const { redisStore } = await import('@x/state-codec/redis')\n"
    const get = "await redisStore('redis://localhost').get('key').catch(({ message }) => console.log(message))\n"
    await writeFile(`${place}/store.mjs`, program + get)
    expect(await runCommand(process.execPath, ['store.mjs'], place)).toBe(
      'A URL needs the package @redis/client, which is not installed: npm install @redis/client@6\n',
    )
  })

  test('a gateway file with a search names the package that mcpx lacks, and the command', async () => {
    const place = `${folder}/user-@x-cli`
    const upstreams = { crm: { url: 'https://crm.test/mcp' } }
    const file = { name: 'all', state: { keys: { env: 'KEYS' } }, upstreams, toolSearch: true }
    await writeFile(`${place}/gateway.json`, JSON.stringify(file))
    await expect(
      runCommand(
        process.execPath,
        ['node_modules/@x/cli/dist/mcpx.js', 'gateway', 'check', '--config', 'gateway.json'],
        place,
      ),
    ).rejects.toThrow('toolSearch needs the package minisearch, which is not installed: npm install minisearch@7')
  })

  test(
    'a copy of examples/deploy is installed as its Dockerfile does, serves, and stops at SIGTERM',
    async () => {
      const place = `${folder}/deployed`
      await published.consumer(place)
      await serveDeployFolder(place)
    },
    hangMs,
  )

  test(
    'a dry run packs an archive of each package, and npm installs all of them together',
    async () => {
      expect(dryRun).toContain('this was a dry run: nothing was published')
      const packed = (await readdir(archives)).filter((file) => file.endsWith('.tgz'))
      const files = packed.map((file) => `${archives}/${file}`)
      expect(files).toHaveLength(names.length)
      const place = `${folder}/from-archives`
      await mkdir(place)
      await runCommand('npm', ['install', '--no-audit', '--no-fund', '--prefer-offline', ...files], place)
      await writeFile(`${place}/main.mjs`, "await import('@x/server')\nawait import('@x/tasks')\n")
      await runCommand(process.execPath, ['main.mjs'], place)
    },
    hangMs,
  )

  test(
    'the server of the README is installed in an empty folder, asks, and answers',
    async () => {
      const place = `${folder}/readme`
      await published.consumer(place)
      await followReadme(place)
    },
    hangMs,
  )

  test(
    'the steps of the tutorial print the output that its page shows',
    async () => {
      const place = `${folder}/bakery`
      await published.consumer(place)
      await followTutorial(place)
    },
    hangMs,
  )

  test.each(['http', 'stdio', 'worker'] as const)(
    'a folder of mcpx init --%s is installed, passes its tests, starts, and answers a call',
    async (kind) => {
      const place = `${folder}/init-${kind}`
      await published.consumer(place)
      await installFrom(place, ['@x/cli'])
      await runCommand('npx', ['mcpx', 'init', 'new-server', `--${kind}`], place)
      const project = `${place}/new-server`
      await writeFile(`${project}/.npmrc`, await readFile(`${place}/.npmrc`))
      await installFrom(project, [])
      expect(await runCommand('npm', ['test'], project)).toMatch(/pass 2$/m)
      const callTarget = (target: string) =>
        runCommand('npx', ['mcpx', 'call', target, 'greet', '--args', '{"name":"Ada"}'], place)
      if (kind === 'stdio') {
        expect(await callTarget(`npm start --silent --prefix ${project}`)).toBe('Hello, Ada!\n')
        return
      }
      await using started = await (kind === 'worker' ? startWorker(project) : startAsImage(project))
      const { port } = new URL(started.url)
      expect(await callTarget(`http://localhost:${port}/mcp`)).toBe('Hello, Ada!\n')
    },
    hangMs,
  )

  test(
    'all packages except @x/auth install none of its dependencies and run without it [AUE-033]',
    async () => {
      // The bridges of @x/gateway and the command line log in, so they require @x/auth.
      const others = names.filter((name) => !['@x/auth', '@x/cli', '@x/gateway'].includes(name))
      const place = `${folder}/without-auth`
      await published.consumer(place)
      await installFrom(place, [...others, '@opentelemetry/api', 'minisearch'])
      const { packages } = await measureInstall(place)
      expect(packages).toEqual(expect.arrayContaining(others))
      expect(packages.filter((name) => ['@x/auth', 'oauth4webapi'].includes(name))).toEqual([])
      const program = others.flatMap((name) => find(name).entries.map((entry) => `await import('${entry}')`))
      await writeFile(`${place}/program.mjs`, program.join('\n'))
      await runCommand(process.execPath, ['program.mjs'], place)
    },
    hangMs,
  )

  test('the guide on replay is part of the server package, and its links lead to the repository', async () => {
    const guide = await readFile(`${folder}/user-@x-server/node_modules/@x/server/guides/replay.md`, 'utf8')
    expect(guide).toMatch(/^# Your handler runs more than once/)
    expect(guide).not.toMatch(/\]\((?!https:|#)/)
  })

  test(
    'a second release publishes the changed package and its dependents, and users keep the others',
    async () => {
      const place = `${folder}/user-@x-tasks`
      await copy.change('second', { '@x/client': 'minor' })
      await runJob({ name: 'versions' })
      await runJob({ name: 'pull-request', artifact: { of: 'versions', file: 'versions.patch' } })
      expect(await readdir(`${folder}/pull-request`)).not.toContain('node_modules')
      await copy.merge('next-versions')
      await publish()
      const next = increaseAll(versions, { '@x/client': 'minor', ...patchesOf(dependentsOfClient) })
      expect(await latestOfAll()).toEqual(next)
      const client = `@x/client@${next.get('@x/client')}`
      // npm warns of a client that may break what was tested, beside a package that does not know it.
      const installAndListWarnings = (packages: string): Promise<string> =>
        runCommand(
          'sh',
          ['-c', `npm install --no-audit --no-fund --prefer-offline ${packages} 2>&1 >install.log`],
          place,
        )
      expect(await installAndListWarnings(client)).toContain('ERESOLVE overriding peer dependency')
      expect(await installAndListWarnings(`@x/tasks@latest ${client}`)).not.toContain('ERESOLVE')
      await runCommand(process.execPath, ['program.mjs'], place)
    },
    hangMs,
  )
})
