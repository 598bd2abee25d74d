import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { isJsonObject, type JsonObject, messageOf, parseJsonObject } from '@x/core'
import { createClient } from '@x/client'
import { connectAny } from '@x/legacy/client'
import { CliError } from '../cli-error.ts'
import { type Finding, ok, skipped, wrong } from '../doctor/check.ts'

interface Manifests {
  readonly folder: string
  readonly npm: JsonObject
  readonly registry: JsonObject | undefined
  readonly bundle: JsonObject | undefined
}

type PublishCheck = (manifests: Manifests) => Finding | Promise<Finding>

const checks: Readonly<Record<string, PublishCheck>> = {
  registry: checkRegistry,
  bundle: checkBundle,
  start: checkStart,
}

/** Examines a project before its publication. Calls `onFinding` with the result of each check. */
export async function runPublishChecks(
  folder: string,
  onFinding: (id: string, finding: Finding) => void,
): Promise<void> {
  const npm = await readManifest(join(folder, 'package.json'))
  if (npm === undefined) throw new CliError('usage', `${folder} has no package.json`)
  const registry = await readManifest(join(folder, 'server.json'))
  const bundle = await readManifest(join(folder, 'manifest.json'))
  for (const [id, check] of Object.entries(checks)) onFinding(id, await check({ folder, npm, registry, bundle }))
}

async function readManifest(path: string): Promise<JsonObject | undefined> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
  if (text === undefined) return undefined
  const manifest = parseJsonObject(text)
  if (manifest === undefined) throw new CliError('failure', `${path} is not a JSON object`)
  return manifest
}

/** The entry of the MCP Registry and the package have the same names and versions. */
function checkRegistry({ npm, registry }: Manifests): Finding {
  if (registry === undefined) return skipped('There is no server.json.')
  const packages = Array.isArray(registry['packages']) ? registry['packages'].filter(isJsonObject) : []
  const npmPackages = packages.filter(({ registryType }) => registryType === 'npm')
  const pairs: readonly (readonly [string, unknown, string, unknown])[] = [
    ['mcpName of package.json', npm['mcpName'], 'name of server.json', registry['name']],
    ['version of package.json', npm['version'], 'version of server.json', registry['version']],
    ...npmPackages.flatMap(({ identifier, version }) => [
      ['name of package.json', npm['name'], 'identifier in server.json', identifier] as const,
      ['version of package.json', npm['version'], 'version of the package in server.json', version] as const,
    ]),
  ]
  const differing = pairs.find(([, one, , other]) => one !== other || one === undefined)
  if (differing !== undefined) return unequal(...differing)
  if (String(registry['name']).includes('YOUR-NAME'))
    return wrong(
      'The name of server.json has the placeholder YOUR-NAME.',
      'Write the name of your account, there and in package.json.',
    )
  return ok(`package.json and server.json describe ${String(registry['name'])} ${String(registry['version'])}.`)
}

/** The manifest of a bundle and the package have the same version. */
function checkBundle({ npm, bundle }: Manifests): Finding {
  if (bundle === undefined) return skipped('There is no manifest.json of a bundle.')
  if (bundle['version'] !== npm['version'])
    return unequal('version of package.json', npm['version'], 'version of manifest.json', bundle['version'])
  return ok(`The bundle has the version ${String(bundle['version'])}, too.`)
}

function unequal(one: string, value: unknown, other: string, otherValue: unknown): Finding {
  const [shown = 'absent', otherShown = 'absent'] = [JSON.stringify(value), JSON.stringify(otherValue)]
  return wrong(`The ${one} is ${shown}, and the ${other} is ${otherShown}.`, 'Write the same in both.')
}

const startTimeoutMs = 120_000

/** The packed package starts by `npx`, as a host starts it, and names itself as its manifest does. */
async function checkStart({ folder, npm }: Manifests): Promise<Finding> {
  if (npm['private'] === true) return skipped('The package is private, so no host starts it.')
  const place = await mkdtemp(join(tmpdir(), 'mcpx-publish-'))
  try {
    const { stdout } = await promisify(execFile)('npm', ['pack', '--silent', '--pack-destination', place], {
      cwd: folder,
    })
    const tarball = join(place, stdout.trim().split('\n').at(-1) ?? '')
    return compareInfo(npm, await startPackage(folder, tarball))
  } catch (error) {
    return wrong(
      `The packed package does not start by npx: ${messageOf(error).slice(0, 500)}`,
      'Check "bin", "files" and the dependencies of package.json.',
    )
  } finally {
    await rm(place, { recursive: true, force: true })
  }
}

async function startPackage(
  cwd: string,
  tarball: string,
): Promise<{ readonly name?: string; readonly version?: string }> {
  const target = { command: 'npx', args: ['-y', `file:${tarball}`], cwd }
  const timeouts = { handshakeTimeoutMs: startTimeoutMs, probeTimeoutMs: startTimeoutMs }
  const connection = connectAny(target, { ...timeouts, stdio: { restart: false } })
  try {
    const client = createClient(connection, { name: 'mcpx', version: '1.0.0', timeoutMs: startTimeoutMs })
    await client.discover()
    return { ...client.serverInfo }
  } finally {
    await connection.close()
  }
}

function compareInfo(
  npm: JsonObject,
  { name, version }: { readonly name?: string; readonly version?: string },
): Finding {
  const npmName = String(npm['name']).replace(/^@[^/]+\//, '')
  if (version !== npm['version'])
    return unequal('version of package.json', npm['version'], 'version of the server', version)
  if (name !== npmName) return unequal('name of package.json', npmName, 'name of the server', name)
  return ok(`The packed package starts by npx, as ${name} ${version}.`)
}
