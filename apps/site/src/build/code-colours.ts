import type { MarkdownOptions, MarkdownRenderer } from 'vitepress'

/** Languages without colours. */
const plainLanguages = new Set(['', 'text', 'txt'])

/**
 * Takes away the half second after which Shiki leaves the rest of a line without colours: a slow builder would make
 * another site than a fast one.
 */
export const withoutTimeLimit: NonNullable<MarkdownOptions['codeTransformers']>[number] = {
  preprocess(_, options) {
    Object.assign(options, { tokenizeTimeLimit: 0 })
  },
}

/** Makes a block without colours fail the build. */
export function requireColours(md: MarkdownRenderer): void {
  const { highlight } = md.options
  md.options.highlight = (code, language, attributes) => {
    const html = highlight?.(code, language, attributes) ?? ''
    if (plainLanguages.has(language) || html.includes('--shiki-')) return html
    const start = code.split('\n', 1).join()
    throw new Error(
      `The block "${start}" has no colours: Shiki has no language "${language}". Write another, or "text"`,
    )
  }
}
