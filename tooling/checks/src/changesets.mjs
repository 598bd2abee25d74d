import { spawnSync } from 'node:child_process'
import { problem } from './report.mjs'
import { listFiles, listPackages, readText, shippedSource } from './workspace.mjs'

/**
 * Finds packages whose source has changed since their last version, with no changeset that names them. In a shallow
 * clone, Git may not know that version, and the check finds nothing.
 * @param {string} root
 * @returns {string[]}
 */
export function checkChangesets(root) {
  const changesets = listFiles(root).filter((file) => /^\.changeset\/(?!README\.md).*\.md$/.test(file))
  const texts = changesets.map((file) => readText(root, file).replaceAll('"', "'"))
  return listPackages(root).flatMap(({ name, folder, manifest }) => {
    if (manifest.private || texts.some((text) => text.includes(`'${name}':`))) return []
    const version = git(root, ['log', '-1', '--format=%H', '--', `${folder}/CHANGELOG.md`])[0]
    if (version === undefined) return []
    const changed = git(root, ['diff', '--name-only', version, '--', `${folder}/src`])
    const [file] = changed.filter((path) => shippedSource.test(path))
    if (file === undefined) return []
    const remedy = 'run pnpm changeset, and say in the words of a user what changes'
    return [problem(`${file} has changed since the last version of ${name}, and no changeset names ${name}`, remedy)]
  })
}

/** @param {string} root @param {readonly string[]} args @returns {string[]} The lines of the output. */
function git(root, args) {
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8' })
  return status === 0 ? stdout.split('\n').filter((line) => line !== '') : []
}
