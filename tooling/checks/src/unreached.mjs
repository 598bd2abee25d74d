import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { importsOf, parseSource } from './imports.mjs'
import { shown } from './workspace.mjs'

/** @typedef {import('./workspace.mjs').Target} Target */

/**
 * Returns the scripts in `dist` that no entry of `exports` or `bin` imports, directly or indirectly. They remain from
 * an earlier build.
 * @param {string} directory The unpacked package.
 * @param {Target | undefined} exports
 * @returns {string[]}
 */
export function unreachedScripts(directory, exports) {
  const reached = new Set(targetsOf(exports).map((target) => join(directory, target)))
  for (const file of reached) {
    if (!file.endsWith('.js') || !existsSync(file)) continue
    const relative = importsOf(parseSource(file)).filter(({ specifier }) => specifier.startsWith('.'))
    for (const { specifier } of relative) reached.add(resolve(dirname(file), specifier))
  }
  const files = readdirSync(join(directory, 'dist'), { recursive: true, encoding: 'utf8' })
  const scripts = files.filter((file) => file.endsWith('.js')).map((file) => join(directory, 'dist', file))
  return scripts.filter((file) => !reached.has(file)).map((file) => shown(directory, file))
}

/**
 * @param {Target | undefined} target
 * @returns {string[]}
 */
function targetsOf(target) {
  if (typeof target === 'string') return [target]
  return target ? Object.values(target).flatMap(targetsOf) : []
}
