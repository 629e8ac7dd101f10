//===- IntegerTests.cpp - Integer and bit instructions
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Expected values are C++'s, or those of the formulas in the PTX manual,
// written out.
//
//===----------------------------------------------------------------------===//

#include "Snippet.h"

#include <algorithm>
#include <random>

using namespace pipewright::ptx;

namespace {
uint32_t u32(int64_t value) { return static_cast<uint32_t>(value); }
} // namespace

TEST(PtxIntegers, AgreeWithTheHost) {
  Snippet add("add.s32 %r9, %r0, %r1;", 'r');
  Snippet sub("sub.s32 %r9, %r0, %r1;", 'r');
  Snippet low("mul.lo.s32 %r9, %r0, %r1;", 'r');
  Snippet highSigned("mul.hi.s32 %r9, %r0, %r1;", 'r');
  Snippet highUnsigned("mul.hi.u32 %r9, %r0, %r1;", 'r');
  Snippet wide("mul.wide.s32 %d9, %r0, %r1;", 'd');
  Snippet divide("div.s32 %r9, %r0, %r1;", 'r');
  Snippet remainder("rem.s32 %r9, %r0, %r1;", 'r');
  Snippet minSigned("min.s32 %r9, %r0, %r1;", 'r');
  Snippet maxUnsigned("max.u32 %r9, %r0, %r1;", 'r');
  std::mt19937 random(7);
  for (int i = 0; i < 50; ++i) {
    int32_t a = static_cast<int32_t>(random()),
            b = static_cast<int32_t>(random());
    uint32_t ua = a, ub = b;
    EXPECT_EQ(add(a, b), ua + ub);
    EXPECT_EQ(sub(a, b), ua - ub);
    EXPECT_EQ(low(a, b), ua * ub);
    EXPECT_EQ(highSigned(a, b), u32(int64_t(a) * b >> 32));
    EXPECT_EQ(highUnsigned(a, b), uint64_t(ua) * ub >> 32);
    EXPECT_EQ(static_cast<int64_t>(wide(a, b)), int64_t(a) * b);
    EXPECT_EQ(divide(a, b), u32(a / b));
    EXPECT_EQ(remainder(a, b), u32(a % b));
    EXPECT_EQ(minSigned(a, b), u32(std::min(a, b)));
    EXPECT_EQ(maxUnsigned(a, b), std::max(ua, ub));
  }
}

TEST(PtxIntegers, KeepToTheirWidth) {
  EXPECT_EQ(Snippet("add.s16 %h9, %h0, %h1;", 'h')(0xFFFF, 2), 1u);
  EXPECT_EQ(Snippet("mul.wide.u16 %r9, %h0, %h1;", 'r')(0xFFFF, 0xFFFF),
            0xFFFE0001u);
  EXPECT_EQ(Snippet("neg.s16 %h9, %h0;", 'h')(1), 0xFFFFu);
  EXPECT_EQ(Snippet("mul.hi.u64 %d9, %d0, %d1;", 'd')(~0ull, ~0ull), ~1ull);
  EXPECT_EQ(Snippet("mad.lo.s64 %d9, %d0, %d1, %d2;", 'd')(1ull << 40, 3, 5),
            (3ull << 40) + 5);
  EXPECT_EQ(Snippet("mad.wide.s32 %d9, %r0, %r1, %d2;", 'd')(u32(-2), 3, 10),
            4u);
  EXPECT_EQ(Snippet("mad.hi.s32 %r9, %r0, %r1, %r2;", 'r')(1u << 30, 8, 100),
            102u);
}

TEST(PtxIntegers, Saturate) {
  Snippet add("add.sat.s32 %r9, %r0, %r1;", 'r');
  EXPECT_EQ(add(0x7FFFFFFF, 1), 0x7FFFFFFFu);
  EXPECT_EQ(add(0x80000000, u32(-1)), 0x80000000u);
  EXPECT_EQ(add(5, u32(-7)), u32(-2));
  Snippet sub("sub.sat.s32 %r9, %r0, %r1;", 'r');
  EXPECT_EQ(sub(0x80000000, 1), 0x80000000u);
}

TEST(PtxIntegers, PassTheCarryOn) {
  // 128-bit sum of (d0, d1) and (d2, d3): its upper word.
  Snippet add("add.cc.u64 %d8, %d0, %d2;\n addc.u64 %d9, %d1, %d3;", 'd');
  EXPECT_EQ(add(~0ull, 1, 1, 10), 12u);
  EXPECT_EQ(add(~0ull - 1, 1, 1, 10), 11u);
  Snippet sub("sub.cc.u32 %r8, %r0, %r2;\n subc.cc.u32 %r9, %r1, %r3;", 'r');
  EXPECT_EQ(sub(0, 5, 1, 2), 2u);
  EXPECT_EQ(sub(1, 5, 1, 2), 3u);
  Snippet mad("mad.lo.cc.u32 %r8, %r0, %r1, %r2;\n"
              "madc.hi.u32 %r9, %r0, %r1, %r3;",
              'r');
  uint64_t product = 0xFFFFFFFFull * 0xFFFFFFFFull;
  EXPECT_EQ(mad(0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 3),
            u32((product + 0xFFFFFFFF + (3ull << 32)) >> 32));
}

TEST(PtxIntegers, HaveOperationsOfTheirOwn) {
  EXPECT_EQ(Snippet("sad.s32 %r9, %r0, %r1, %r2;", 'r')(u32(-3), 4, 10), 17u);
  EXPECT_EQ(Snippet("abs.s32 %r9, %r0;", 'r')(u32(-3)), 3u);
  EXPECT_EQ(Snippet("mul24.lo.s32 %r9, %r0, %r1;", 'r')(0xFFFFFF, 5), u32(-5));
  EXPECT_EQ(Snippet("dp4a.s32.s32 %r9, %r0, %r1, %r2;", 'r')(0xFF020304,
                                                             0x02010101, 100),
            100u - 2 + 2 + 3 + 4);
  EXPECT_EQ(Snippet("slct.s32.s32 %r9, %r0, %r1, %r2;", 'r')(1, 2, u32(-1)),
            2u);
}

TEST(PtxBits, DoLogic) {
  EXPECT_EQ(Snippet("and.b32 %r9, %r0, %r1;", 'r')(12, 10), 8u);
  EXPECT_EQ(Snippet("or.b64 %d9, %d0, %d1;", 'd')(1ull << 40, 2),
            (1ull << 40) + 2);
  EXPECT_EQ(Snippet("xor.b16 %h9, %h0, %h1;", 'h')(0xFF00, 0x0FF0), 0xF0F0u);
  EXPECT_EQ(Snippet("not.b32 %r9, %r0;", 'r')(1), 0xFFFFFFFEu);
  EXPECT_EQ(Snippet("cnot.b32 %r9, %r0;", 'r')(0), 1u);
  Snippet predicates("setp.ne.b32 %p1, %r0, 0;\n setp.ne.b32 %p2, %r1, 0;\n"
                     "xor.pred %p9, %p1, %p2;",
                     'p');
  EXPECT_EQ(predicates(1, 1), 0u);
  EXPECT_EQ(predicates(1, 0), 1u);
}

TEST(PtxBits, LookUpThreeBits) {
  // The table of (a & b) ^ c.
  Snippet lop("lop3.b32 %r9, %r0, %r1, %r2, 106;", 'r');
  EXPECT_EQ(lop(0xF0F0, 0xFF00, 0x3333), (0xF0F0u & 0xFF00u) ^ 0x3333u);
}

TEST(PtxBits, Shift) {
  Snippet left("shl.b32 %r9, %r0, %r1;", 'r');
  EXPECT_EQ(left(1, 31), 0x80000000u);
  EXPECT_EQ(left(1, 32), 0u);
  Snippet right("shr.s32 %r9, %r0, %r1;", 'r');
  EXPECT_EQ(right(0x80000000, 4), 0xF8000000u);
  EXPECT_EQ(right(0x80000000, 99), 0xFFFFFFFFu);
  EXPECT_EQ(Snippet("shr.u64 %d9, %d0, %r1;", 'd')(1ull << 63, 63), 1u);
  EXPECT_EQ(
      Snippet("shf.l.wrap.b32 %r9, %r0, %r1, %r2;", 'r')(0x80000001, 3, 33),
      7u);
  EXPECT_EQ(Snippet("shf.r.clamp.b32 %r9, %r0, %r1, %r2;", 'r')(1, 3, 40), 3u);
}

TEST(PtxBits, PermuteBytes) {
  Snippet permute("prmt.b32 %r9, %r0, %r1, %r2;", 'r');
  EXPECT_EQ(permute(0x33221100, 0x77665544, 0x7410), 0x77441100u);
  // The high bit of a selector spreads the byte's sign.
  EXPECT_EQ(permute(0x80, 0x7F, 0x000C), 0x80808000u);
  EXPECT_EQ(permute(0x80, 0x7F, 0x8888), 0xFFFFFFFFu);
  EXPECT_EQ(Snippet("prmt.b32.f4e %r9, %r0, %r1, %r2;", 'r')(0x33221100,
                                                             0x77665544, 1),
            0x44332211u);
  EXPECT_EQ(Snippet("prmt.b32.rc16 %r9, %r0, %r1, %r2;", 'r')(0x33221100, 0, 1),
            0x33223322u);
}

TEST(PtxBits, TakeFields) {
  EXPECT_EQ(Snippet("bfe.u32 %r9, %r0, 4, 8;", 'r')(0xABCDE), 0xCDu);
  EXPECT_EQ(Snippet("bfe.s32 %r9, %r0, 4, 8;", 'r')(0xABCDE), 0xFFFFFFCDu);
  EXPECT_EQ(Snippet("bfe.s32 %r9, %r0, 28, 8;", 'r')(0x70000000), 7u);
  EXPECT_EQ(Snippet("bfe.u32 %r9, %r0, 40, 8;", 'r')(0xABCDE), 0u);
  EXPECT_EQ(Snippet("bfi.b32 %r9, %r0, %r1, 8, 4;", 'r')(0xFF, 0x1000),
            0x1F00u);
  EXPECT_EQ(Snippet("bmsk.clamp.b32 %r9, %r0, %r1;", 'r')(4, 8), 0xFF0u);
}

TEST(PtxBits, CountAndFind) {
  EXPECT_EQ(Snippet("popc.b64 %r9, %d0;", 'r')(0xF00000000000000Full), 8u);
  EXPECT_EQ(Snippet("clz.b32 %r9, %r0;", 'r')(1), 31u);
  EXPECT_EQ(Snippet("clz.b64 %r9, %d0;", 'r')(0), 64u);
  EXPECT_EQ(Snippet("brev.b32 %r9, %r0;", 'r')(1), 0x80000000u);
  EXPECT_EQ(Snippet("bfind.u32 %r9, %r0;", 'r')(0x1000), 12u);
  EXPECT_EQ(Snippet("bfind.s32 %r9, %r0;", 'r')(u32(-1)), 0xFFFFFFFFu);
  EXPECT_EQ(Snippet("bfind.shiftamt.u32 %r9, %r0;", 'r')(0x1000), 19u);
}

TEST(PtxComparisons, OrderIntegers) {
  EXPECT_EQ(Snippet("setp.lt.s32 %p9, %r0, %r1;", 'p')(u32(-1), 1), 1u);
  EXPECT_EQ(Snippet("setp.lt.u32 %p9, %r0, %r1;", 'p')(u32(-1), 1), 0u);
  EXPECT_EQ(Snippet("setp.hi.u32 %p9, %r0, %r1;", 'p')(2, 1), 1u);
  EXPECT_EQ(Snippet("setp.eq.b64 %p9, %d0, %d1;", 'p')(1ull << 40, 0), 0u);
  // The second predicate is the opposite.
  EXPECT_EQ(Snippet("setp.lt.s32 %p1|%p9, %r0, %r1;", 'p')(1, 2), 0u);
  EXPECT_EQ(Snippet("setp.eq.s32 %p1, %r0, 0;\n"
                    "setp.lt.and.s32 %p9, %r0, %r1, !%p1;",
                    'p')(0, 2),
            0u);
  EXPECT_EQ(Snippet("set.gt.u32.s32 %r9, %r0, %r1;", 'r')(2, 1), 0xFFFFFFFFu);
  EXPECT_EQ(Snippet("set.gt.f32.s32 %r9, %r0, %r1;", 'r')(2, 1), bits(1.0f));
  EXPECT_EQ(Snippet("setp.gt.s32 %p1, %r0, 3;\n"
                    "selp.b32 %r9, %r1, %r2, %p1;",
                    'r')(4, 10, 20),
            10u);
}

TEST(PtxMoves, PackAndUnpack) {
  EXPECT_EQ(Snippet("mov.b64 %d9, {%r0, %r1};", 'd')(1, 2), (2ull << 32) + 1);
  EXPECT_EQ(Snippet("mov.b64 {%r8, %r9}, %d0;", 'r')(5ull << 32), 5u);
  EXPECT_EQ(Snippet("mov.b32 {_, %h9}, %r0;", 'h')(0xABCD1234), 0xABCDu);
  EXPECT_EQ(Snippet("mov.b64 %d9, {%h0, %h1, %h2, %h3};", 'd')(1, 2, 3, 4),
            0x0004000300020001u);
  EXPECT_EQ(Snippet("mov.b32 %r9, 0f3F800000;", 'r')(), bits(1.0f));
  EXPECT_EQ(Snippet("mov.f64 %d9, 0d4008000000000000;", 'd')(), bits(3.0));
  EXPECT_EQ(Snippet("mov.u32 %r9, %laneid;", 'r')(), 0u);
  EXPECT_EQ(Snippet("mov.u32 %r9, %ntid.x;", 'r')(), 1u);
  EXPECT_EQ(Snippet("mov.u32 %r9, WARP_SZ;", 'r')(), 32u);
}

TEST(PtxMoves, CarryAddressesBetweenSpaces) {
  EXPECT_EQ(Snippet("mov.u64 %d8, buffer;\n cvta.shared.u64 %d7, %d8;\n"
                    "cvta.to.shared.u64 %d6, %d7;\n"
                    "sub.u64 %d9, %d6, %d8;",
                    'd')(),
            0u);
  EXPECT_EQ(Snippet("mov.u64 %d8, buffer;\n cvta.shared.u64 %d7, %d8;\n"
                    "isspacep.shared %p9, %d7;",
                    'p')(),
            1u);
  EXPECT_EQ(Snippet("isspacep.global %p9, %in;", 'p')(), 1u);
  // A generic store, read back from shared memory.
  EXPECT_EQ(Snippet("mov.u64 %d8, buffer;\n cvta.shared.u64 %d7, %d8;\n"
                    "st.u32 [%d7+4], %r0;\n ld.shared.u32 %r9, [buffer+4];",
                    'r')(77),
            77u);
}
