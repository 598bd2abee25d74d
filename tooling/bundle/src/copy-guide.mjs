import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join, posix } from 'node:path'

const guides = 'docs/guides'

/**
 * Copies a guide of the repository into a package, so that it can be read without a network. Relative links become
 * absolute.
 * @param {string} directory The folder of the package.
 * @param {string} name The file's name in `docs/guides`.
 */
export async function copyGuide(directory, name) {
  const root = join(directory, '../..')
  const { homepage } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const text = await readFile(join(root, guides, name), 'utf8')
  await mkdir(join(directory, 'guides'), { recursive: true })
  await writeFile(join(directory, 'guides', name), absoluteLinks(text, `${homepage}/blob/main/`))
}

/**
 * Makes the relative links of a guide absolute, and removes the markers that name the source files of its code.
 * @param {string} text
 * @param {string} base The URL of the repository's root, with a slash at its end.
 * @returns {string}
 */
export function absoluteLinks(text, base) {
  const linked = text.replaceAll(/\]\((?![a-z][a-z0-9+.-]*:|#)([^)]+)\)/gi, (_, target) => {
    return `](${base}${posix.join(guides, target)})`
  })
  return linked.replaceAll(/^<!-- file: .* -->\n/gm, '')
}
