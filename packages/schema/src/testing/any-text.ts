import fc from 'fast-check'

/** Any Unicode text, including control characters and all planes. Cheaper to make than the texts of fast-check. */
export const anyText: fc.Arbitrary<string> = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0, max: 0x7f }), fc.integer({ min: 0, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code >= 0xd800 && code < 0xe000 ? code - 0x800 : code)),
})
