#!/bin/sh
# Generator for code_object_resources_test: two kernels of known resources.
#   two_kernels.sh --variant NAME --out FILE
set -eu

kernel() { # name lds scratch kernarg vgprs accum_offset sgprs workgroup
    cat <<END
  .text
  .globl $1
  .p2align 8
  .type $1,@function
$1:
  s_endpgm
  .size $1, .-$1
  .rodata
  .p2align 6
  .amdhsa_kernel $1
    .amdhsa_group_segment_fixed_size $2
    .amdhsa_private_segment_fixed_size $3
    .amdhsa_kernarg_size $4
    .amdhsa_user_sgpr_kernarg_segment_ptr 1
    .amdhsa_next_free_vgpr $5
    .amdhsa_accum_offset $6
    .amdhsa_next_free_sgpr $7
  .end_amdhsa_kernel
END
}

metadata() { # the same arguments
    cat <<END
  - .name: $1
    .symbol: $1.kd
    .group_segment_fixed_size: $2
    .private_segment_fixed_size: $3
    .kernarg_segment_size: $4
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .vgpr_count: $5
    .sgpr_count: $7
    .max_flat_workgroup_size: $8
    .args:
      - { .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global }
      - { .offset: 8, .size: 4, .value_kind: by_value }
END
}

first="small 0 0 16 8 8 10 64"
second="large 163840 20 300 201 100 33 1024"
{
    echo '  .amdgcn_target "amdgcn-amd-amdhsa--gfx950"'
    echo '  .amdhsa_code_object_version 6'
    kernel $first
    kernel $second
    echo '  .amdgpu_metadata'
    echo '---'
    echo 'amdhsa.version: [1, 2]'
    echo 'amdhsa.target: amdgcn-amd-amdhsa--gfx950'
    echo 'amdhsa.kernels:'
    metadata $first
    metadata $second
    echo '...'
    echo '  .end_amdgpu_metadata'
} > "$4"
