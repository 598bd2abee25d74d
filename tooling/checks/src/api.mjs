import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { builtEntries, hiddenTypes, readDeclarations } from './declarations.mjs'
import { firstDifference } from './difference.mjs'
import { problem, runCheck } from './report.mjs'
import { listPackages, workspaceRoot } from './workspace.mjs'

/**
 * @typedef {import('./workspace.mjs').Package} Package
 * @typedef {import('./declarations.mjs').Entry} Entry
 */

/**
 * Checks that the `api.md` of every package matches its built declarations, and that every mentioned type is exported.
 * With `--write`, the files are written instead of compared.
 * @param {string} root
 * @param {readonly string[]} flags
 */
export function checkApi(root, flags = []) {
  const packages = listPackages(root).filter(({ manifest }) => manifest.private !== true)
  const unbuilt = packages.flatMap(builtEntries).filter(({ file }) => !existsSync(file))
  if (unbuilt.length > 0) {
    return unbuilt.map(({ specifier }) => problem(`${specifier} is not built`, 'run pnpm build, and repeat this check'))
  }
  const { entries, surface } = readDeclarations(root, packages)
  return [...entries].flatMap(([one, own]) => [
    ...compare(one, apiText(one, own), flags.includes('--write')),
    ...own.flatMap(({ specifier, exported }) =>
      exported.flatMap((item) =>
        hiddenTypes(surface, item).map((type) => {
          const remedy = `also export the type ${type} from the package, so that users can name it`
          return problem(`${item.name} of ${specifier} mentions ${type}, which is not exported`, remedy)
        }),
      ),
    ),
  ])
}

/**
 * @param {Package} one
 * @param {string} text
 * @param {boolean} write
 */
function compare(one, text, write) {
  const path = join(one.directory, 'api.md')
  const committed = existsSync(path) ? readFileSync(path, 'utf8') : ''
  if (write && committed !== text) writeFileSync(path, text)
  if (write || committed === text) return []
  const difference = firstDifference(committed, text)
  return [
    problem(`${one.folder}/api.md differs from the declarations\n${difference}`, 'run pnpm api, and commit the file'),
  ]
}

/**
 * @param {Package} one
 * @param {readonly Entry[]} entries
 */
function apiText(one, entries) {
  const sections = entries.map(({ specifier, exported }) => {
    const code = formatted(exported.map(({ text }) => text).join('\n\n'))
    return `## ${specifier}\n\n\`\`\`ts\n${code}\n\`\`\`\n`
  })
  const head = `# The public surface of ${one.name}\n\nWritten by \`pnpm api\` from the built declarations; a change here is a change for users.\n`
  return [head, ...sections].join('\n')
}

/** @param {string} code */
function formatted(code) {
  const biome = join(workspaceRoot, 'node_modules/.bin/biome')
  const config = `--config-path=${join(workspaceRoot, 'tooling/lint')}`
  return execFileSync(biome, ['format', config, '--stdin-file-path=api.d.ts'], { input: code, encoding: 'utf8' }).trim()
}

await runCheck(import.meta.url, checkApi)
