/**
 * Parts of the transport for the packages of this repository. They may change in any release.
 *
 * @module @x/transport-stdio/internal
 */

export { createLineSplitter, type LineSink, type LineSplitter, type SkippedLine } from './line-splitter.ts'
export { type LineReader, type LineReaderEvents, readLines } from './read-lines.ts'
