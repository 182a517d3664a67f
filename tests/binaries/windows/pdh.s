# Performance counters as the kubelet reads them: every counter is there, and has one instance, "_Total", of 1e9.
# Wine's own library knows hardly any counter, and the kubelet ends without them.
.intel_syntax noprefix

.section .rdata
total:  .short '_', 'T', 'o', 't', 'a', 'l', 0
        .balign 8
value:  .double 1000000000.0

.text
.globl PdhOpenQuery, PdhAddCounterW, PdhAddEnglishCounterW, PdhCloseQuery, PdhCollectQueryData
.globl PdhGetFormattedCounterValue, PdhGetFormattedCounterArrayW, PdhValidatePathW

PdhOpenQuery:                       # (source, user data, out query)
        mov     qword ptr [r8], 1
        xor     eax, eax
        ret

PdhAddCounterW:                     # (query, path, user data, out counter)
PdhAddEnglishCounterW:
        mov     qword ptr [r9], 1
        xor     eax, eax
        ret

PdhCloseQuery:
PdhCollectQueryData:
PdhValidatePathW:
        xor     eax, eax
        ret

PdhGetFormattedCounterValue:        # (counter, format, out type, out value)
        mov     rax, qword ptr value[rip]
        mov     dword ptr [r9], 0
        mov     qword ptr [r9+8], rax
        xor     eax, eax
        ret

PdhGetFormattedCounterArrayW:       # (counter, format, in out size, out count, out items)
        mov     dword ptr [r9], 1
        cmp     dword ptr [r8], 24
        mov     dword ptr [r8], 24
        jb      more
        mov     r10, qword ptr [rsp+40]
        lea     rax, total[rip]
        mov     qword ptr [r10], rax
        mov     dword ptr [r10+8], 0
        mov     rax, qword ptr value[rip]
        mov     qword ptr [r10+16], rax
        xor     eax, eax
        ret
more:   mov     eax, 0x800007D2     # PDH_MORE_DATA
        ret
